"""Builds the question to a person and reads the answer. Pure functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, Literal, TypeAlias, cast, get_args

import jsonschema_rs
from langchain.agents.middleware.human_in_the_loop import DecisionType, HITLRequest, ToolApprovalRequest
from pydantic import TypeAdapter, ValidationError

from agents.loop.effects import CallQuestion
from agents.loop.single_agent import DECISIONS, read_decisions
from agents.reply_types import AnswerWord, HumanAnswer
from evaluation.sensitive.scanner import quote_text, shorten
from orchestrator.runtime.call_records import plan_record
from orchestrator.state.plain_values import format_repr
from orchestrator.state.records import (
    Attempt,
    Question,
    SupervisionMode,
    SupervisionRecord,
    ToolCallRecord,
)

_ANSWER_CHARACTERS: Final = 200
_AGAIN: Final = " again? The answer correct does not run it: its text is the result of the {}."
OUTAGE: Final = "server_outage"
"""The key of the interrupt of a run that waits for a server, of a model or a tool, and for no person."""
_Field: TypeAlias = Literal["answer", "text", "answered_by", "question"]
_QUESTION: Final = TypeAdapter(Question)
_REQUEST: Final = TypeAdapter[HITLRequest | ToolApprovalRequest](HITLRequest | ToolApprovalRequest)
# An unknown key could be a misspelled "text", whose correction would be lost.
_ANSWER: Final = TypeAdapter(dict[_Field, str | None])


def build_question(
    record: Attempt,
    kind: Literal["supervision", "review"],
    text: str,
    findings: list[str],
) -> Question:
    """Builds the question about an execution.

    Args:
        record: Record of the execution.
        kind: "supervision" if the supervision asks, "review" if the evaluation has no verdict.
        text: Text of the question.
        findings: Problems of the execution, in words.
    """
    question = Question(
        # A corrected step asks again: with the attempt in the id, an old answer does not count for it.
        id=f"{record['step_index']}.{record['attempt']}",
        kind=kind,
        step_index=record["step_index"],
        step=record["step"],
        attempt=record["attempt"],
        text=text,
        output=record["result"],
        findings=findings,
        accepts=["approve", "correct", "deny"],
        asked_at=datetime.now(UTC).isoformat(),
        problem=None,
    )
    calls = [_shorten_answer(call) for call in record["tool_calls"]]
    return {**question, "tool_calls": calls} if calls else question


def _shorten_answer(call: ToolCallRecord) -> ToolCallRecord:
    """Returns a call with the beginning of its answer; the record of the execution has it all."""
    result, error = (text and shorten(text, _ANSWER_CHARACTERS) for text in (call["result"], call["error"]))
    return {**call, "result": result, "error": error}


def build_tool_question(
    place: str, step: tuple[int, str, int], asked: CallQuestion, call: ToolCallRecord, earlier: Sequence[str]
) -> Question:
    """Builds the question whether a tool may run.

    Args:
        place: Distinguishes this call from the others of the execution.
        step: Index of the step, its text and the number of the execution.
        asked: The question of the agent.
        call: The record of the call, which has not run.
        earlier: The calls before, in words.
    """
    (index, text, attempt), doubt = step, asked.doubt
    return Question(
        id=f"{index}.{attempt}.{place}",
        kind="tool",
        step_index=index,
        step=text,
        attempt=attempt,
        text=f"May the tool {call['name']} run{_AGAIN.format('call') if doubt else '?'}",
        output="",
        findings=[*filter(None, [doubt, asked.breach]), *earlier],
        # Only of a call that may have had its effect can a person know the result.
        accepts=["approve", "correct", "deny", "halt"] if doubt else ["approve", "deny", "halt"],
        asked_at=asked.asked_at,
        problem=None,
        tool_calls=[call],
    )


def extend_to_step(question: Question, calls: Sequence[ToolCallRecord], findings: Sequence[str]) -> Question:
    """Returns a question about a call as one about its step, which would make all its calls again."""
    return {
        **question,
        "text": f"May step {question['step_index'] + 1} run{_AGAIN.format('step')}",
        "findings": [*findings],
        "accepts": ["approve", "correct", "halt"],
        "tool_calls": [*calls],
    }


def read_tool_question(value: object) -> Question | None:
    """Reads the value of an interrupt as a question about a tool call; None if it is another value."""
    try:
        question = _QUESTION.validate_python(value, strict=True)
    except ValidationError:
        return None
    return question if question["kind"] == "tool" else None


def read_outage(value: object) -> str | None:
    """Returns why a run waits for a server; None for the value of another interrupt."""
    message = value.get(OUTAGE) if isinstance(value, Mapping) else None
    return message if isinstance(message, str) else None


@dataclass(frozen=True, slots=True)
class Review:
    """The question of an agent's interrupt, and the form of its answer.

    Attributes:
        calls: The calls that LangChain's ``HumanInTheLoopMiddleware`` asks about; none of another interrupt.
        schema: The JSON Schema of the answer; None for any answer.
        allowed: The types of decisions about each call, if the answer is a list of decisions.
    """

    calls: tuple[ToolCallRecord, ...] = ()
    schema: Mapping[str, object] | None = None
    allowed: Sequence[Sequence[str]] = ()

    @property
    def form(self) -> str:
        """A clause about the form of the answer."""
        if not self.allowed:
            return f"a value that fits the schema {format_repr(self.schema, 300)}"
        pairs = zip(self.calls, self.allowed, strict=True)
        taken = "; ".join(f"{call['name']}: {', '.join(kinds)}" for call, kinds in pairs)
        return f'LangChain\'s {{"decisions": [...]}} with a decision for each call ({taken})'

    def takes(self, answer: object) -> bool:
        """Returns whether an answer has the form that the interrupt expects."""
        if self.allowed:
            return read_decisions(answer, self.allowed) is not None
        try:
            return self.schema is None or jsonschema_rs.is_valid(dict(self.schema), answer)
        except ValueError:  # the answer is no JSON
            return False

    def list_words(self) -> list[AnswerWord]:
        """Lists the words that are answers; one text cannot be the result of several calls."""
        words = [word for word in DECISIONS if self.calls and self.takes(self.decide(word, "text"))]
        return [word for word in words if word != "correct" or len(self.calls) == 1]

    def decide(self, word: AnswerWord, text: str) -> object:
        """Returns an answer in the form of LangChain's middleware."""
        decision = {"type": DECISIONS[word], **({"message": text} if text else {})}
        return {"decisions": [decision] * len(self.calls)} if self.allowed else decision


def read_review(value: object, schema: object) -> Review:
    """Reads the interrupt of an agent.

    Args:
        value: Its value.
        schema: Its schema; None if it has none.
    """
    given = schema if isinstance(schema, Mapping) else None
    try:
        asked = _REQUEST.validate_python(value)
    except ValidationError:
        return Review((), given)
    if "action_requests" not in asked:
        return Review((plan_record(asked["name"], asked["args"]),), given)
    batch = cast("HITLRequest", asked)
    kinds = {each["action_name"]: each["allowed_decisions"] for each in batch["review_configs"]}
    calls = tuple(plan_record(each["name"], each["args"]) for each in batch["action_requests"])
    return Review(calls, given, [kinds.get(each["name"], get_args(DecisionType)) for each in calls])


def describe_interrupt(value: object, actions: Sequence[ToolCallRecord]) -> str:
    """Describes the interrupt of an agent: its calls, its text, or its JSON."""
    if actions:
        return f"May these tools run: {', '.join(each['name'] for each in actions)}?"
    return value if isinstance(value, str) else format_repr(value, 2000)


def describe_problems(triggers: Sequence[str], findings: Sequence[str]) -> list[str]:
    """Describes the problems of an execution for a person: its triggers, and the findings in full."""
    others = [trigger for trigger in triggers if not (findings and trigger.startswith("evaluation:"))]
    return list(dict.fromkeys([*map(describe_trigger, others), *findings]))


def describe_trigger(trigger: str) -> str:
    """Describes a trigger in words: "deviation:a title" is "deviation: a title"; a finding says it all."""
    name, colon, text = trigger.partition(":")
    return text if name == "evaluation" else f"{name.replace('_', ' ')}{colon} {text.strip()}".rstrip()


def read_answer(raw: object, question: Question, now: datetime) -> HumanAnswer | str:
    """Reads an answer: ``{"answer": "approve" | "correct" | ..., "text": ..., "answered_by": ...}``.

    With the question's id under ``question``, the answer is refused if another question waits. An answer to
    a question about a tool call has to have it.

    Returns:
        The answer, or one sentence that says why it is refused.
    """
    try:
        fields = {name: text for name, text in _ANSWER.validate_python(raw).items() if text}
    except ValidationError:
        return f"the answer is {format_repr(raw, 120)}; {_describe_accepted(question)}"
    word, text, question_id = (fields.get(name, "") for name in ("answer", "text", "question"))
    if question_id not in ("", question["id"]):
        # Not by its id, which no person has seen.
        place = f"step {question['step_index'] + 1}, attempt {question['attempt']}"
        waits = f"the one that waits: {place}, {quote_text(question['text'])}"
        return f"the answer is for another question; read and answer {waits}"
    accepted = next((known for known in question["accepts"] if known == word), None)
    if accepted is None:
        return f"the answer is {format_repr(raw, 120)}; {_describe_accepted(question)}"
    if accepted != "approve" and not text.strip():
        return f"the answer {word!r} has no 'text'; {_describe_accepted(question)}"
    if not question_id and question["kind"] == "tool":
        return f'the answer names no question; give "question": {question["id"]!r} for these arguments'
    person = fields.get("answered_by") or "a person"
    return HumanAnswer(answer=accepted, text=text, answered_by=person, answered_at=now.isoformat())


def add_question_id(answer: object, question: Question) -> object:
    """Adds the question's id to an answer without one, so that it counts for no other question."""
    if not isinstance(answer, Mapping) or answer.get("question"):
        return answer
    return {**answer, "question": question["id"]}


def blank_supervision(mode: SupervisionMode) -> SupervisionRecord:
    """Returns an empty supervision record."""
    return SupervisionRecord(
        mode=mode, commitment=None, assessment=None, triggers=[], verdict=None, answer=None
    )


def _describe_accepted(question: Question) -> str:
    accepted = ", ".join(question["accepts"])
    form = '{"answer": ..., "text": ..., "answered_by": ...}'
    return f"give {form} with one of the answers {accepted}; approve needs no text"
