"""A stored run whose claims do not agree with its own records is refused, and not shown as a success."""

from __future__ import annotations

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from evaluation import EvaluationContract
from orchestrator import BrokenRunError, LangGraphOrchestrator
from orchestrator.state.stored_form import validate_state
from tests.fakes.executor import FakeExecutor
from tests.fakes.monitor import FakeMonitor
from tests.fakes.planner import FakePlanner

SHORT = EvaluationContract(checks=[{"check": "word_count", "max": 2}], complete=True)
FAILURE = {"kind": "denied", "message": "no", "step_index": 0, "error_type": None}


def run(result="apple", **options):
    agents = FakePlanner(["one"]), FakeExecutor(*[result] * 3), FakeMonitor()
    return LangGraphOrchestrator(*agents, **{"contract": SHORT, **options}).run("Name a fruit")


def with_record(state, **changes):
    return {**state, "results": [{**state["results"][-1], **changes}]}


def with_report(state, **changes):
    return with_record(state, report={**state["results"][-1]["report"], **changes})


FORGED = {
    "a success with a failure": lambda: {**run(), "failure": FAILURE},
    "another basis than its output": lambda: {**run(contract=None), "basis": "checked"},
    "another evidence than its output": lambda: {
        **run(),
        "evidence": {"form": "code", "content": "code", "actions": "nothing"},
    },
    "a person who never answered": lambda: {**with_record(run(), basis="approved"), "basis": "approved"},
    "no report": lambda: with_record(run(), report=None),
    "a report that refuses it": lambda: with_report(run(), status="failed"),
    "a check that failed": lambda: with_report(run(), checks=[{"passed": False}]),
    "a check without an outcome": lambda: with_report(run(), checks=[{}]),
    "checks of another form": lambda: with_report(run(), checks="passed"),
    "a status of another form": lambda: with_report(run(), status=["passed"]),
}


@pytest.mark.parametrize("build", FORGED.values(), ids=FORGED)
def test_a_claim_that_the_records_do_not_bear_is_broken(build):
    with pytest.raises(BrokenRunError, match="thread 'x' holds a state that is broken"):
        validate_state("x", build())


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"contract": None},
        {"require": "checked"},
        {"contract": None, "require": "checked"},
        {"result": "a b c"},
    ],
)
def test_the_claims_of_a_run_itself_are_accepted(options):
    state = run(**options)

    assert validate_state("x", state) == state


def test_the_approval_of_a_person_is_accepted():
    agents = FakePlanner(["one"]), FakeExecutor(), FakeMonitor()
    orchestrator = LangGraphOrchestrator(*agents, supervision="human", checkpointer=InMemorySaver())
    orchestrator.run("Name a fruit", "thread")
    state = orchestrator.resume("thread", {"answer": "approve"})

    assert (validate_state("x", state), state["basis"]) == (state, "approved")
