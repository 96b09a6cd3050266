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

UNREADABLE = {"success": False, "feedback": "Failed to parse monitoring response: hmm"}
CONFIG = {"configurable": {"thread_id": "thread"}}


def build(*agents, **options):
    return build_run(*agents, checkpointer=InMemorySaver(), **options)


def silent():
    return ScriptedChatModel(lambda messages: "out")


def test_the_stored_state_equals_the_returned_one(subtests):
    for kind, options in [
        (None, {}),
        (None, {"monitor": FakeMonitor(refuse(), accept())}),
        ("attempts_exhausted", {"monitor": FakeMonitor(accept(), refuse())}),
        ("needs_review", {"monitor": FakeMonitor(UNREADABLE)}),
        ("planner_error", {"planner": FakePlanner(ValueError("no"))}),
        ("plan_invalid", {"planner": FakePlanner([])}),
        ("executor_error", {"executor": FakeExecutor("out", ValueError("no"))}),
        ("monitor_error", {"monitor": FakeMonitor(accept(), ValueError("no"))}),
        ("budget_exceeded", {"executor": ModelExecutor(silent()), "budget": Budget(max_model_calls=1)}),
        ("budget_exceeded", {"executor": WaitingExecutor(), "budget": Budget(max_seconds=0.3)}),
        ("timeout", {"executor": WaitingExecutor(), "call_timeout": 0.2}),
    ]:
        with subtests.test(kind=kind, options=options):
            orchestrator = build(**options)
            state = orchestrator.run("x", "thread")

            assert (state["failure"] and state["failure"]["kind"]) == kind
            assert orchestrator.graph.get_state(CONFIG).values == state


def test_the_state_is_plain_json():
    planner = PlanningAgent(ScriptedChatModel(['{"plan": ["one"]}'], usage=(1, 1)))
    executor = ExecutionAgent(ScriptedChatModel(["out"], usage=(1, 1)))
    monitor = MonitoringAgent(ScriptedChatModel(['{"success": true, "feedback": "ok"}'], usage=(1, 1)))
    state = build(executor, monitor, planner=planner).run("x")

    assert json.loads(json.dumps(state)) == state


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
