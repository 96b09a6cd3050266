"""What every strategy of a retry policy has in common: it survives a cut."""

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from agents import ExecutionAgent
from agents.testing import ScriptedChatModel
from evaluation import EvaluationContract
from orchestrator import RetryPolicy
from tests.fakes.runs import build as build_run

CONTRACT = EvaluationContract(checks=[{"check": "excludes", "texts": ["red"]}])

STRATEGIES = [
    {"use": "feedback"},
    {"use": "resample"},
    {"use": "escalate", "model": "other"},
    pytest.param({"use": "ask_human"}, marks=pytest.mark.sample),
]


def build(rule, **settings):
    model = ScriptedChatModel(lambda prompt: "red", usage=(5, 5))
    policy = RetryPolicy(max_retries=2, strategies=[rule])
    options = {"contract": CONTRACT, "retry_policy": policy, "checkpointer": InMemorySaver(), **settings}
    models = {"other": model} if rule["use"] == "escalate" else None
    return build_run(ExecutionAgent(model), plan=["write"], models=models, **options)


def finish(orchestrator, state):
    while state["question"]:
        state = orchestrator.resume("t", {"answer": "deny", "text": "no"})
    return state


def describe(state):
    keys = ("attempt", "result", "status", "decision", "sampling")
    return [[record[key] for key in keys] for record in state["results"]]


def go_on(orchestrator):
    """Goes on with a run that was cut off; returns the state of a run that had ended."""
    state = orchestrator.graph.get_state({"configurable": {"thread_id": "t"}}).values
    return state if state["status"] in {"failed", "success"} else orchestrator.resume("t")


@pytest.mark.faults
@pytest.mark.parametrize("rule", STRATEGIES, ids=lambda rule: rule["use"])
def test_a_run_that_is_cut_off_after_any_event_ends_as_if_it_had_not_been(rule):
    whole = build(rule)
    expected = describe(finish(whole, whole.run("write", "t")))
    for cut in range(2, 1 + sum(1 for _ in build(rule).stream("write", "t"))):
        store = InMemorySaver()
        events = build(rule, checkpointer=store).stream("write", "t")
        assert sum(1 for _ in zip(range(cut), events, strict=False)) == cut
        events.close()
        again = build(rule, checkpointer=store)

        assert describe(finish(again, go_on(again))) == expected
