"""With a checkpointer: what is stored is what is returned, and a thread can be used again."""

import json

from langgraph.checkpoint.memory import InMemorySaver

from agents import ExecutionAgent, MonitoringAgent, PlanningAgent
from agents.testing import ScriptedChatModel
from orchestrator import Budget
from tests.fakes.executor import FakeExecutor, ModelExecutor, WaitingExecutor
from tests.fakes.monitor import FakeMonitor, accept, refuse
from tests.fakes.planner import FakePlanner
from tests.fakes.runs import build as build_run
from tests.fakes.runs import stored_state

UNREADABLE = {"success": False, "feedback": "Failed to parse monitoring response: hmm"}


PLANS = ScriptedChatModel(['{"plan": ["one"]}'], usage=(1, 1))
OUT = ScriptedChatModel(lambda messages: "out", usage=(1, 1))
YES = ScriptedChatModel(['{"success": true, "feedback": "ok"}'], usage=(1, 1))


def build(*agents, **options):
    return build_run(*agents, checkpointer=InMemorySaver(), **options)


def test_the_stored_state_equals_the_returned_one_and_is_plain_json(subtests):
    for kind, options in [
        (None, {}),
        (None, {"monitor": FakeMonitor(refuse(), accept())}),
        (
            None,
            {
                "planner": PlanningAgent(PLANS),
                "executor": ExecutionAgent(OUT),
                "monitor": MonitoringAgent(YES),
            },
        ),
        ("attempts_exhausted", {"monitor": FakeMonitor(accept(), refuse())}),
        ("needs_review", {"monitor": FakeMonitor(UNREADABLE)}),
        ("planner_error", {"planner": FakePlanner(ValueError("no"))}),
        ("plan_invalid", {"planner": FakePlanner([])}),
        ("executor_error", {"executor": FakeExecutor("out", ValueError("no"))}),
        ("monitor_error", {"monitor": FakeMonitor(accept(), ValueError("no"))}),
        ("budget_exceeded", {"executor": ModelExecutor(OUT), "budget": Budget(max_model_calls=1)}),
        ("budget_exceeded", {"executor": WaitingExecutor(), "budget": Budget(max_seconds=0.3)}),
        ("timeout", {"executor": WaitingExecutor(), "call_timeout": 0.2}),
    ]:
        with subtests.test(kind=kind, options=options):
            orchestrator = build(**options)
            state = orchestrator.run("x", "thread")

            assert (state["failure"] and state["failure"]["kind"]) == kind
            assert stored_state(orchestrator) == state == json.loads(json.dumps(state))


def test_a_second_run_after_a_failed_one_starts_clean(subtests):
    for first in [
        {"monitor": FakeMonitor(refuse(), refuse(), refuse(), accept())},
        {"executor": FakeExecutor("a", ValueError("no"), "b")},
        {"planner": FakePlanner(ValueError("no"), ["one", "two"])},
        {"monitor": FakeMonitor(UNREADABLE, UNREADABLE, accept())},
    ]:
        with subtests.test(first=first):
            orchestrator = build(**first)
            failed = orchestrator.run("x", "thread")
            state = orchestrator.run("x", "thread", replace=True)

            assert (failed["status"], state["status"], state["failure"]) == ("failed", "success", None)
            assert [item["attempt"] for item in state["results"]] == [1, 1]
            assert (state["attempts"], state["current_step_index"]) == (0, 2)
