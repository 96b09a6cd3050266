"""Deadlines of answers."""

from __future__ import annotations

import pytest

from orchestrator import (
    SupervisionPolicy,
)
from tests.fakes.supervision import (
    FakeClock,
)
from tests.orchestrator.supervision.supervised_runs import (
    APPROVE,
    CORRECT,
    PARALLEL_PLAN,
    start_human,
    statuses,
)


def ask_and_wait(seconds, plan=("one", "two"), **policy):
    """An orchestrator, its waiting state, and its clock, these seconds after the question of a minute."""
    clock = FakeClock()
    policy = SupervisionPolicy(**{"answer_deadline_s": 60, **policy})
    orchestrator, state = start_human(plan=plan, supervision_policy=policy, clock=clock)
    clock.pass_by(seconds=seconds)
    return orchestrator, state, clock


@pytest.mark.parametrize(("then", "status"), [("deny", "failed"), ("approve", "success")])
@pytest.mark.parametrize("answer", [None, APPROVE, CORRECT, "nonsense"], ids=str)
def test_after_the_deadline_whoever_resumes_what_was_configured_is_the_answer(then, status, answer):
    orchestrator, state, _ = ask_and_wait(61, ["one"], on_deadline=then)
    ended = orchestrator.resume("thread", answer)

    assert ended["status"] == status
    assert ended["results"][0]["supervision"]["answer"]["answered_by"] == "deadline"
    assert state["question"]["deadline"] == "2026-01-02T03:05:05+00:00"


def test_an_approval_by_a_deadline_is_nobodys_approval():
    orchestrator, _, _ = ask_and_wait(61, ["one"], on_deadline="approve")

    assert orchestrator.resume("thread")["basis"] == "unverified"


@pytest.mark.parametrize("seconds", [0, 60])
def test_before_the_deadline_the_answer_counts(seconds):
    orchestrator, _, _ = ask_and_wait(seconds, ["one"])

    assert orchestrator.resume("thread", APPROVE)["status"] == "success"


def test_without_a_deadline_a_question_waits_for_ever():
    orchestrator, before, _ = ask_and_wait(10**9, answer_deadline_s=None)

    assert (before["question"]["deadline"], orchestrator.resume("thread")) == (None, before)


def test_a_deadline_holds_for_steps_side_by_side():
    orchestrator, state, clock = ask_and_wait(61, PARALLEL_PLAN, on_deadline="approve")
    while state["status"] == "executing":
        state = orchestrator.resume("thread")
        clock.pass_by(seconds=61)

    assert (state["status"], statuses(state)) == ("success", ["validated"] * 3)
