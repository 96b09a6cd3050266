"""Builds the question to a person and reads the answer. Pure functions."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final, Literal

from orchestrator.state.plain_values import format_repr, read_text
from orchestrator.state.records import (
    AnswerWord,
    HumanAnswer,
    Question,
    StepRecord,
    SupervisionMode,
    SupervisionRecord,
)
from orchestrator.supervision.policy import SupervisionPolicy

ANSWER_WORDS: Final[tuple[AnswerWord, ...]] = ("approve", "correct", "deny")
BY_DEADLINE: Final = "deadline"
_FIELDS: Final = ("answer", "text", "answered_by", "question")
_TEXT_LIMIT: Final = 10_000


def build_question(
    record: StepRecord,
    kind: Literal["supervision", "review"],
    text: str,
    findings: list[str],
    policy: SupervisionPolicy,
    *,
    corrected: int,
    now: datetime,
) -> Question:
    """Builds the question about an execution.

    Args:
        record: Record of the execution.
        kind: "supervision" if the supervision asks, "review" if the evaluation has no verdict.
        text: Text of the question.
        findings: Problems of the execution, in words.
        policy: Sets the deadline of the answer and the number of corrections.
        corrected: Number of corrections that people made to this step before.
        now: Current time in UTC.
    """
    may_correct = corrected < policy.max_corrections
    wait = policy.answer_deadline_s
    return Question(
        # A corrected step asks again: with the attempt in the id, an old answer does not count for it.
        id=f"{record['step_index']}.{record['attempt']}",
        kind=kind,
        step_index=record["step_index"],
        step=record["step"],
        attempt=record["attempt"],
        text=text,
        output=record["result"],
        findings=findings,
        accepts=[word for word in ANSWER_WORDS if may_correct or word != "correct"],
        asked_at=now.isoformat(),
        deadline=None if wait is None else (now + timedelta(seconds=wait)).isoformat(),
        on_deadline=policy.on_deadline,
        problem=None,
    )


def is_overdue(question: Question, now: datetime) -> bool:
    """Checks whether the deadline of a question has passed."""
    return question["deadline"] is not None and now > datetime.fromisoformat(question["deadline"])


def answer_by_deadline(question: Question, now: datetime) -> HumanAnswer:
    """Builds the answer that counts if no person answers before the deadline."""
    return HumanAnswer(
        answer=question["on_deadline"],
        text=f"no answer came before {question['deadline']}",
        answered_by=BY_DEADLINE,
        answered_at=now.isoformat(),
    )


def read_answer(raw: object, question: Question, now: datetime) -> HumanAnswer | str:
    """Reads an answer: ``{"answer": "approve" | "correct" | "deny", "text": ..., "answered_by": ...}``.

    With the question's id under ``question``, the answer is refused if another question waits.

    Returns:
        The answer, or one sentence that says why it is refused.
    """
    # The deadline comes first, so that every late answer counts the same, readable or not.
    if is_overdue(question, now):
        return answer_by_deadline(question, now)
    word, text, person, question_id = _read_fields(raw)
    if question_id not in (None, question["id"]):
        answered, waiting = format_repr(question_id, 80), question["id"]
        return f"the answer is for question {answered}, but question {waiting!r} is waiting"
    if word not in question["accepts"]:
        return f"the answer is {format_repr(raw, 120)}; {_describe_accepted(question)}"
    if word != "approve" and not (text and text.strip()):
        return f"the answer {word!r} has no 'text'; {_describe_accepted(question)}"
    if text is not None and len(text) > _TEXT_LIMIT:
        return f"the answer's text has {len(text)} characters; the maximum is {_TEXT_LIMIT}"
    return HumanAnswer(
        answer="approve" if word == "approve" else "correct" if word == "correct" else "deny",
        text=text or "",
        answered_by=person or "a person",
        answered_at=now.isoformat(),
    )


def with_answer(record: StepRecord, answer: HumanAnswer) -> StepRecord:
    """Returns the record of an execution with the answer added."""
    supervision = record["supervision"] or blank_supervision("human")
    return {**record, "supervision": {**supervision, "answer": answer}}


def blank_supervision(mode: SupervisionMode) -> SupervisionRecord:
    """Returns an empty supervision record."""
    return SupervisionRecord(
        mode=mode, commitment=None, assessment=None, triggers=[], verdict=None, answer=None
    )


def _describe_accepted(question: Question) -> str:
    accepted = ", ".join(question["accepts"])
    return f'give {{"answer": ..., "text": ...}} with one of the answers {accepted}; approve needs no text'


def _read_fields(raw: object) -> tuple[str | None, str | None, str | None, str | None]:
    """Reads the answer, its text, the person and the question's id. All are None if one is not text."""
    if isinstance(raw, str):
        return read_text(raw), None, None, None
    # An unknown key could be a misspelled "text", whose correction would be lost.
    if not isinstance(raw, Mapping) or set(raw) - set(_FIELDS):
        return None, None, None, None
    values = [raw.get(name) for name in _FIELDS]
    if any(value is not None and read_text(value) is None for value in values):
        return None, None, None, None
    word, text, person, question_id = map(read_text, values)
    return word, text, person, question_id
