"""Questions about steps that run in parallel."""

from __future__ import annotations

import threading

import pytest

from tests.fakes.supervision import (
    SpeakingExecutor,
)
from tests.orchestrator.supervision.supervised_runs import (
    APPROVE,
    CORRECT,
    DENY,
    PARALLEL_PLAN,
    answer_all,
    failure_kind,
    start_human,
    statuses,
    stored_state,
)


class LateFirst(SpeakingExecutor):
    """The first of two steps ends after the second."""

    def __init__(self):
        super().__init__()
        self._second = threading.Event()

    def execute_step(self, step_description, context=""):
        if step_description == "one":
            self._second.wait(20)
        return super().execute_step(step_description, context)

    def assess_step(self, step, commitment, output):
        if step == "two":
            self._second.set()
        return super().assess_step(step, commitment, output)


@pytest.mark.parametrize("executor", [SpeakingExecutor, LateFirst])
def test_questions_of_steps_side_by_side_come_one_after_the_other_by_the_plan(executor):
    executor = executor()
    orchestrator, state = start_human(executor, plan=PARALLEL_PLAN)
    steps, ended = answer_all(orchestrator, state, APPROVE)

    assert steps == ["one", "two", "end"]
    assert (ended["status"], statuses(ended)) == ("success", ["validated"] * 3)
    assert sorted(call.step for call in executor.calls) == ["end", "one", "two"]


def test_steps_side_by_side_are_corrected_each_by_itself():
    executor = SpeakingExecutor()
    orchestrator, state = start_human(executor, plan=PARALLEL_PLAN)
    corrected = []

    def answer(question):
        if question["step"] == "two" and not corrected:
            corrected.append(question)
            return CORRECT
        return APPROVE

    steps, ended = answer_all(orchestrator, state, answer)

    assert steps == ["one", "two", "two", "end"]
    assert [(record["step_index"], record["attempt"]) for record in ended["results"]] == [
        (0, 1),
        (1, 1),
        (1, 2),
        (2, 1),
    ]


def test_a_denial_withdraws_the_questions_of_the_steps_beside():
    executor = SpeakingExecutor()
    orchestrator, _ = start_human(executor, plan=PARALLEL_PLAN)
    state = orchestrator.resume("thread", DENY)

    assert (state["status"], failure_kind(state), state["question"]) == ("failed", "denied", None)
    assert [(record["step"], record["status"]) for record in state["results"]] == [
        ("one", "failed"),
        ("two", "pending_validation"),
    ]
    assert stored_state(orchestrator) == state
