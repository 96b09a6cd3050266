"""From the monitor's answer to the next state: pure functions."""

from __future__ import annotations

from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator import RetryPolicy
from orchestrator.judging.judging_calls import read_verdict
from orchestrator.retry.verdict_updates import apply_decision, decide_next, read_outcome
from orchestrator.state.graph_state import blank_state
from tests.orchestrator.state.test_state import record

STATUSES = {"validated": "passed", "failed": "failed", "needs_review": "needs_review"}


def apply_verdict(state, item, outcome, policy):
    """What follows an execution whose report has this outcome."""
    judged = {**item, "report": {"status": STATUSES[outcome]}}
    return apply_decision(state, judged, decide_next(state, judged, policy))


GOOD = {"success": True, "feedback": "good"}
BAD = {"success": False, "feedback": "bad"}


@pytest.mark.parametrize(
    ("answer", "verdict"),
    [
        (GOOD, GOOD),
        (BAD, BAD),
        ({**GOOD, "score": 1}, GOOD),
        (MappingProxyType(GOOD), GOOD),
        ({"success": False, "feedback": ""}, {"success": False, "feedback": ""}),
        ({"success": False, "feedback": "It Failed to parse monitoring response: x"},) * 2,
        (
            {"success": True, "feedback": "Failed to parse monitoring response: x"},
            {"success": True, "feedback": "Failed to parse monitoring response: x"},
        ),
        ({"success": False, "feedback": "Failed to parse monitoring response: x"}, None),
        ({"success": False, "feedback": "Failed to parse monitoring response: "}, None),
        ({"success": "true", "feedback": "good"}, None),
        ({"success": 1, "feedback": "good"}, None),
        ({"success": None, "feedback": "good"}, None),
        ({"success": True, "feedback": None}, None),
        ({"success": True, "feedback": ["good"]}, None),
        ({"success": True}, None),
        ({"feedback": "good"}, None),
        ({}, None),
        ([GOOD], None),
        ("success", None),
        (True, None),
        (None, None),
        (3.5, None),
    ],
)
def test_a_monitors_answer_is_read_as(answer, verdict):
    assert read_verdict(answer) == verdict


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["success", "feedback", "x"]), inner),
    )
)
def test_no_answer_is_a_success_unless_it_says_so(answer):
    verdict = read_verdict(answer)

    if verdict is not None and verdict["success"]:
        assert answer["success"] is True


@pytest.mark.parametrize(
    ("report", "outcome"),
    [
        ({"status": "passed"}, "validated"),
        ({"status": "warning"}, "validated"),
        ({"status": "failed"}, "failed"),
        ({"status": "needs_review"}, "needs_review"),
        ({"status": "invalid"}, "needs_review"),
        ({"status": "anything else"}, "needs_review"),
        (None, "needs_review"),
    ],
)
def test_outcome(report, outcome):
    assert read_outcome({**record(0, 1), "report": report}) == outcome


@pytest.mark.parametrize(
    ("index", "plan", "status"),
    [(0, ["a", "b"], "executing"), (1, ["a", "b"], "success"), (0, ["a"], "success")],
)
def test_a_validated_step_moves_on_and_the_last_one_ends_the_run(index, plan, status):
    state = {
        **blank_state("x", 2),
        "status": "executing",
        "plan": plan,
        "current_step_index": index,
        "attempts": 1,
    }
    update = apply_verdict(state, {**record(index, 2), "verdict": GOOD}, "validated", RetryPolicy())

    assert (update["status"], update["current_step_index"], update["attempts"]) == (status, index + 1, 0)


@pytest.mark.parametrize(
    ("outcome", "after", "attempts", "max_retries", "kind"),
    [
        ("failed", None, 1, 2, None),
        ("failed", None, 2, 2, None),
        ("failed", None, 3, 2, "attempts_exhausted"),
        ("failed", None, 1, 0, "attempts_exhausted"),
        ("needs_review", None, 1, 2, "needs_review"),
        ("needs_review", None, 3, 2, "needs_review"),
        ("needs_review", None, 1, 0, "needs_review"),
        ("needs_review", "unverified", 1, 2, None),
        ("needs_review", "unverified", 2, 2, None),
        ("needs_review", "unverified", 3, 2, "needs_review"),
    ],
)
def test_an_execution_that_was_not_validated(outcome, after, attempts, max_retries, kind):
    """It counts as an attempt, and ends the run only where the policy says so."""
    item = {**record(0, attempts), "verdict": BAD}
    state = {
        **blank_state("x", max_retries),
        "status": "executing",
        "plan": ["a"],
        "attempts": attempts - 1,
        "results": [*(record(0, attempt, "failed") for attempt in range(1, attempts)), item],
    }
    update = apply_verdict(
        state, item, outcome, RetryPolicy(strategies=[{"use": "feedback", "after": after}])
    )

    assert update["attempts"] == attempts
    assert update["results"][0]["status"] == outcome
    assert (update["failure"]["kind"] if "failure" in update else None) == kind
    assert update.get("status") == ("failed" if kind else None)
