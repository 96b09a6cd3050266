"""Answers that are refused: unreadable, late, given twice, or without a question."""

from __future__ import annotations

import threading
from datetime import UTC, datetime

import pytest

from orchestrator import (
    ConfigurationError,
    Question,
    ResumeError,
)
from orchestrator.supervision.human import read_answer
from tests.fakes.supervision import (
    SpeakingExecutor,
)
from tests.orchestrator.supervision.supervised_runs import (
    APPROVE,
    DENY,
    start_human,
    statuses,
    stored_state,
)

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
QUESTION = Question(
    id="0.1",
    kind="supervision",
    step_index=0,
    step="one",
    attempt=1,
    text="Do you accept it?",
    output="one done",
    findings=[],
    accepts=["approve", "correct", "deny"],
    asked_at=NOW.isoformat(),
    problem=None,
)


def test_a_bad_answer_is_refused_with_the_reason(subtests):
    for answer in [
        "deny",
        ["approve"],
        {"answer": "Approve"},
        {"answer": "deny"},
        {"answer": "correct"},
        {"answer": "correct", "text": 3},
        {"answer": "approve", "answered_by": 3},
        {"answer": "approve", "correction": "x"},
        {"answer": ["approve"]},
    ]:
        with subtests.test(answer=answer):
            assert isinstance(read_answer(answer, QUESTION, NOW), str)


def test_a_refused_answer_leaves_the_question_open():
    executor = SpeakingExecutor()
    orchestrator, before = start_human(executor)
    with pytest.raises(ResumeError, match="the question is still open"):
        orchestrator.resume("thread", {"answer": "deny"})

    assert stored_state(orchestrator) == before
    assert len(executor.calls) == 1
    assert orchestrator.resume("thread", APPROVE)["results"][0]["status"] == "validated"


def test_a_second_answer_that_names_its_question_does_not_answer_the_next():
    orchestrator, state = start_human()
    answer = {**APPROVE, "question": state["question"]["id"]}
    after = orchestrator.resume("thread", answer)
    with pytest.raises(ResumeError, match=r"the answer is for another question") as refused:
        orchestrator.resume("thread", answer)

    question = after["question"]
    assert f'the one that waits: step 2, attempt 1, "{question["text"]}"; ' in str(refused.value)
    assert question["id"] not in str(refused.value)
    assert stored_state(orchestrator) == after


def test_two_answers_at_once_are_one_too_many():
    begun, release = threading.Event(), threading.Event()

    def slowly(step, context=""):
        if step == "two":
            begun.set()
            release.wait(20)
        return step

    orchestrator, _ = start_human(SpeakingExecutor(slowly))
    first = threading.Thread(target=orchestrator.resume, args=("thread", APPROVE))
    first.start()
    assert begun.wait(20)
    with pytest.raises(ConfigurationError, match="is already running"):
        orchestrator.resume("thread", DENY)
    release.set()
    first.join(20)

    assert statuses(stored_state(orchestrator)) == ["validated", "pending_validation"]
