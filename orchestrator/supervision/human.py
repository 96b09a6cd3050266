"""A person's part: the question, and the answer that is taken; pure functions."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final, Literal

from orchestrator.state.graph_state import Question, StepRecord
from orchestrator.state.plain_values import read_text, shown
from orchestrator.state.records import AnswerWord, HumanAnswer, SupervisionMode, SupervisionRecord
from orchestrator.supervision.policy import SupervisionPolicy

ANSWERS: Final[tuple[AnswerWord, ...]] = ("approve", "correct", "deny")
BY_DEADLINE: Final = "deadline"
_FIELDS: Final = ("answer", "text", "answered_by", "question")
_TEXT_LIMIT: Final = 10_000


def question_about(
    record: StepRecord,
    kind: Literal["supervision", "review"],
    text: str,
    findings: list[str],
    policy: SupervisionPolicy,
    *,
    corrected: int,
    now: datetime,
) -> Question:
    """What a person is asked about an execution.

    Args:
        record: The execution.
        kind: Whether the supervision asks, or the evaluation that came to no verdict.
        text: The question.
        findings: What is not as it should be.
        policy: Says how long there is time for an answer, and how often one may correct.
        corrected: How often people corrected the step already.
        now: The time, in UTC.
    """
    may_correct = corrected < policy.max_corrections
    wait = policy.answer_deadline_s
    return Question(
        id=f"{record['step_index']}.{record['attempt']}",
        kind=kind,
        step_index=record["step_index"],
        step=record["step"],
        attempt=record["attempt"],
        text=text,
        output=record["result"],
        findings=findings,
        accepts=[answer for answer in ANSWERS if may_correct or answer != "correct"],
        asked_at=now.isoformat(),
        deadline=None if wait is None else (now + timedelta(seconds=wait)).isoformat(),
        on_deadline=policy.on_deadline,
        problem=None,
    )


def overdue(question: Question, now: datetime) -> bool:
    """Whether the time for an answer has passed."""
    return question["deadline"] is not None and now > datetime.fromisoformat(question["deadline"])


def at_deadline(question: Question, now: datetime) -> HumanAnswer:
    """What stands in for an answer that did not come in time."""
    return HumanAnswer(
        answer=question["on_deadline"],
        text=f"no answer came before {question['deadline']}",
        answered_by=BY_DEADLINE,
        answered_at=now.isoformat(),
    )


def read_answer(raw: object, question: Question, now: datetime) -> HumanAnswer | str:
    """Check an answer: ``{"answer": "approve" | "correct" | "deny", "text": ..., "answered_by": ...}``.

    With the ``question``'s id in it, it is refused once another question waits.

    Returns:
        The answer, or one sentence that says what is wrong with it.
    """
    if overdue(question, now):
        return at_deadline(question, now)
    word, text, by, to = _fields(raw)
    if to not in (None, question["id"]):
        return f"the answer is to question {shown(to, 80)}, and {question['id']!r} is the one that waits"
    if word not in question["accepts"]:
        return f"the answer is {shown(raw, 120)}; {_wanted(question)}"
    if word != "approve" and not (text and text.strip()):
        return f"the answer {word!r} has no 'text'; {_wanted(question)}"
    if text is not None and len(text) > _TEXT_LIMIT:
        return f"the answer's text has {len(text)} characters; at most {_TEXT_LIMIT} are taken"
    return HumanAnswer(
        answer="approve" if word == "approve" else "correct" if word == "correct" else "deny",
        text=text or "",
        answered_by=by or "a person",
        answered_at=now.isoformat(),
    )


def answered(record: StepRecord, answer: HumanAnswer) -> StepRecord:
    """The execution with the answer in it."""
    supervision = record["supervision"] or unsupervised("human")
    return {**record, "supervision": {**supervision, "answer": answer}}


def unsupervised(mode: SupervisionMode) -> SupervisionRecord:
    """The record of a supervision in which nothing has happened yet."""
    return SupervisionRecord(
        mode=mode, commitment=None, assessment=None, triggers=[], verdict=None, answer=None
    )


def _wanted(question: Question) -> str:
    """Say what is accepted."""
    forms = {
        "approve": '{"answer": "approve"}',
        "correct": '{"answer": "correct", "text": "what to do otherwise"}',
        "deny": '{"answer": "deny", "text": "why"}',
    }
    return f"give one of {', '.join(forms[word] for word in question['accepts'])}"


def _fields(raw: object) -> tuple[str | None, str | None, str | None, str | None]:
    """The answer, its text, whose it is, and to which question; nothing where any of it is no text."""
    if isinstance(raw, str):
        return read_text(raw), None, None, None
    if not isinstance(raw, Mapping) or set(raw) - set(_FIELDS):
        return None, None, None, None
    given = [raw.get(name) for name in _FIELDS]
    if any(value is not None and read_text(value) is None for value in given):
        return None, None, None, None
    word, text, by, to = map(read_text, given)
    return word, text, by, to
