"""The requests to supervised agents and to their supervisor, and the records that are made of the replies.

A model of a reply accepts unusual spellings, and refuses a reply that leaves the decision open. A reply that
cannot be read approves nothing: it becomes a commitment that is not readable, a commitment that was not met,
a reconciliation that escalates, or a verdict that asks a person.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from functools import cache
from typing import Annotated, Final, Self, TypeVar, cast

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    model_validator,
)
from pydantic.json_schema import SkipJsonSchema
from pydantic_core import PydanticCustomError

from agents.parsing.loose_json import (
    find_document,
    is_one_object,
    is_quoted,
    load_json,
    read_boolean,
    replace_surrogates,
)
from agents.parsing.thoughts import find_unmarked_thoughts
from agents.parsing.verdicts import find_denial
from agents.prompts import fence_text, find_boundary
from agents.reply_types import JsonSchema, Unreadable
from evaluation.sensitive.scanner import shorten
from orchestrator.state.records import (
    CommitKind,
    Commitment,
    Confidence,
    SelfAssessment,
    SupervisorVerdict,
    VerdictWord,
)

_SHORT_STEP: Final = 200
"""Maximum number of characters of a step that is repeated in the example."""

_MET_EXAMPLE: Final = {"met": True, "deviations": [], "concerns": [], "unexpected": []}
_NOT_MET_EXAMPLE: Final = {**_MET_EXAMPLE, "met": False, "deviations": ["I left out a part"]}


def commit_request(step: str, context: str, task: str = "") -> str:
    """Asks for a commitment to a step."""
    parts = [*list_task(task), *([("results so far", context)] if context else []), ("step", step)]
    # A long step in the example would multiply the length of the prompt.
    shown = step if len(step) <= _SHORT_STEP else "Do what the step says"
    example = {
        "interpretation": f"I am to: {shown}",
        "scope_in": [shown],
        "scope_out": [],
        "approach": "I write it, then check it",
        "predicted_output": f"The result of: {shown}",
        "confidence": "medium",
        "assumptions": [],
    }
    return (
        f"{fence_parts(parts)}\n\nWhat will you do? Reply with JSON only: the step in your words, "
        "what you will do and what you will leave alone, how, what the result will look like, "
        "your confidence (high, medium or low) and what you take for granted, "
        f"such as {json.dumps(example, ensure_ascii=False)}"
    )


def assess_request(
    step: str, commitment: Commitment, output: str, tools_used: Sequence[str], task: str = ""
) -> str:
    """Asks whether an output meets its commitment."""
    parts = [
        *list_task(task),
        ("step", step),
        ("what you said you would do", format_commitment(commitment)),
        ("tools you used", ", ".join(tools_used) or "none"),
        ("your output", output),
    ]
    return (
        f"{fence_parts(parts)}\n\nIs your output what you said you would do, and is the step done? "
        'Reply with JSON only: "met" is true or false, "deviations" lists what you did otherwise, '
        '"concerns" what may be wrong, "unexpected" what surprised you. Where something is missing, such as '
        f"{json.dumps(_NOT_MET_EXAMPLE)}; where nothing is to be said, "
        f"the lists are empty: {json.dumps(_MET_EXAMPLE)}"
    )


def format_commitment(commitment: Commitment) -> str:
    """Formats a commitment as lines, without its empty fields."""
    fields = {
        "understood as": commitment["interpretation"],
        "will do": "; ".join(commitment["scope_in"]),
        "will not do": "; ".join(commitment["scope_out"]),
        "how": commitment["approach"],
        "expected result": commitment["predicted_output"],
        "confidence": commitment["confidence"],
        "assumes": "; ".join(commitment["assumptions"]),
    }
    return join_lines(f"{name}: {text}" for name, text in fields.items() if text)


def list_task(task: str) -> list[tuple[str, str]]:
    """Returns the whole task as a part of a prompt; nothing if the step is the whole task."""
    return [("the whole task", task)] if task else []


def fence_parts(parts: Sequence[tuple[str, str]]) -> str:
    """Fences the labelled parts of a prompt off as data."""
    mark = find_boundary(*(text for _, text in parts))
    return "\n\n".join(fence_text(label, text, mark) for label, text in parts)


def join_lines(texts: Iterable[str]) -> str:
    """Joins texts as lines; says that there is nothing if there are none."""
    return "\n".join(texts) or "nothing"


Statement = dict[str, object]
"""A decoded JSON object of a reply. Its keys are in lower case."""

NOT_ALONE: Final = "it is not one JSON object alone"
BROKEN: Final = "its JSON object is broken"
TEXT_LIMIT: Final = 1_000
"""Maximum number of characters of one text."""
_NOTHING: Final = {
    *("none", "nothing", "nil", "null", "na", "n/a", "no"),
    *("no deviations", "no concerns", "no assumptions"),
}
_REFUSALS: Final = {"reorient", "ask_human", "halt"}


def format_value(value: object) -> str:
    """Formats a decoded value as text of at most ``TEXT_LIMIT`` characters.

    Returns an empty text for null, false, and words such as "none" or "n/a".
    """
    if value is None or value is False or value in ([], {}):
        return ""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    text = replace_surrogates(text).strip()
    word = text.strip(" .*_–—-").lower()
    return "" if not word or word in _NOTHING else shorten(text, TEXT_LIMIT)


def _read_entries(value: object) -> list[str]:
    items = value if isinstance(value, list) else [value]
    return [text for item in items if (text := format_value(item))]


def _read_confidence(value: object) -> str:
    word = format_value(value).lower()
    return word if word in ("high", "medium", "low") else "low"


def _read_word(value: object) -> str | None:
    # The word itself must match: the nearest one to an unknown word could be its opposite.
    return re.sub(r"[ -]", "_", value.strip().lower()) if isinstance(value, str) else None


# The lengths are limited in the JSON schema only: a longer reply is cut, and not refused.
Text = Annotated[
    str, BeforeValidator(format_value), Field(json_schema_extra={"minLength": 3, "maxLength": 300})
]
Entries = Annotated[
    list[str],
    BeforeValidator(_read_entries),
    Field(json_schema_extra={"items": {"type": "string", "minLength": 3, "maxLength": 120}, "maxItems": 3}),
]
"""Entries without the empty ones. A single value counts as a list of one entry."""


class Reply(BaseModel):
    """Base class of the replies. Reads an absent field as an empty text, and ignores unknown keys."""

    model_config = ConfigDict(frozen=True, json_schema_extra={"additionalProperties": False})

    # Without defaults, every field is required in the JSON schema, which small models need.
    @model_validator(mode="before")
    @classmethod
    def _fill_absent_fields(cls, statement: Statement) -> Statement:
        return {**dict.fromkeys(cls.model_fields, ""), **statement}

    @classmethod
    @cache
    def response_schema(cls) -> JsonSchema:
        """Builds the JSON schema that constrains a model's reply."""
        # Cached, since pydantic takes a millisecond for it.
        return cls.model_json_schema()


class CommitmentReply(Reply):
    """A commitment. It must state an interpretation. An unknown confidence counts as low."""

    model_config = ConfigDict(title="commitment")

    interpretation: Annotated[str, AfterValidator(format_value), Field(min_length=1)]
    scope_in: Entries
    scope_out: Entries
    approach: Text
    predicted_output: Text
    confidence: Annotated[Confidence, BeforeValidator(_read_confidence)]
    assumptions: Entries


class AssessmentReply(Reply):
    """A self-assessment. ``met`` may also be named ``met_commitment``, as in the stored record."""

    model_config = ConfigDict(title="assessment")

    met: bool
    deviations: Entries
    concerns: Entries
    unexpected: Entries

    @model_validator(mode="before")
    @classmethod
    def _merge_names(cls, statement: Statement) -> Statement:
        values = {read_boolean(statement[name]) for name in ("met", "met_commitment") if name in statement}
        if len(values) != 1 or None in values:
            raise PydanticCustomError(
                "not_met", "it does not say with one boolean whether the commitment was met"
            )
        met = values.pop()
        if met and (denial := find_denial(statement)) is not None:
            raise PydanticCustomError("contradiction", "it says that the commitment was met, and " + denial)
        return {**statement, "met": met}


class VerdictReply(Reply):
    """A verdict, with its detail as ``text`` or under the detail's own name.

    "reorient" needs a correction and "ask_human" a question. A "continue" must not correct, ask, or contain
    another verdict. Unknown keys are refused: one of them may hold another verdict.
    """

    model_config = ConfigDict(title="verdict", extra="forbid")

    verdict: Annotated[VerdictWord, BeforeValidator(_read_word)]
    text: Text
    correction: SkipJsonSchema[Text]
    question: SkipJsonSchema[Text]
    reason: SkipJsonSchema[Text]

    @model_validator(mode="after")
    def _check_detail(self) -> Self:
        others = {_read_word(self.text), _read_word(self.reason)} & _REFUSALS
        if self.verdict == "continue" and (self.correction or self.question or others):
            raise PydanticCustomError("contradiction", "it says 'continue' and something else")
        # A halt needs no reason: as a question, it would wait for a person who may approve it.
        if self.verdict in ("reorient", "ask_human") and not self.detail():
            raise PydanticCustomError("no_detail", "the correction or the question is missing")
        return self

    def detail(self) -> str:
        """Returns the correction, question or reason that belongs to the verdict."""
        named = {"reorient": self.correction, "ask_human": self.question}.get(self.verdict, self.reason)
        return named or self.text or ("no reason given" if self.verdict == "halt" else "")


R = TypeVar("R", bound=Reply)


def read_reply(model: type[R], text: str, shown: Sequence[str] = ()) -> R | Unreadable:
    """Reads a model's reply: one JSON object, which may stand in a code fence after the model's thoughts.

    Args:
        model: The kind of reply to read.
        text: The reply.
        shown: Texts that the model was shown. An object that occurs in one of them is not an answer.
    """
    document = find_document(text, shown)
    # The end of thoughts that never began may be a quotation, and cut an object in two.
    if "{" in find_unmarked_thoughts(text) or not is_one_object(document):
        return Unreadable(text, NOT_ALONE)
    if is_quoted(document, shown):
        return Unreadable(text, "it is quoted from the text to be judged")
    return _validate(model, document, text)


def read_mapping(model: type[R], value: object) -> R | Unreadable:
    """Reads the mapping that a user's own executor or supervisor returned, as a model's reply is read."""
    if not isinstance(value, Mapping):
        return Unreadable("", f"it is a {type(value).__name__} and not a mapping")
    text = json.dumps(dict(value), default=str)
    return _validate(model, text, text)


def _validate(model: type[R], document: str, text: str) -> R | Unreadable:
    statement = load_json(document, any_case=True)
    if not isinstance(statement, dict):
        return Unreadable(text, BROKEN)
    try:
        return model.model_validate(statement)
    except ValidationError as error:
        return Unreadable(text, describe_error(error))


def describe_error(error: ValidationError) -> str:
    """Describes the first problem of a reply."""
    problem = error.errors(include_input=False)[0]
    return ": ".join([*map(str, problem["loc"]), problem["msg"]])


UNREADABLE_REPLY: Final = "the supervisor's reply cannot be read"
"""Start of the reason of a verdict whose reply cannot be read."""
RAW_LIMIT: Final = 300
"""Maximum number of characters that are kept of an unreadable reply."""
OUTPUT_LIMIT: Final = 500
"""Maximum number of characters of the output in a self-assessment."""

_BLANK: Final = CommitmentReply.model_validate({"interpretation": "unreadable"}).model_dump()


def build_commitment(
    reply: CommitmentReply | Unreadable, step_index: int, instruction: str, now: datetime, kind: CommitKind
) -> Commitment:
    """Builds a commitment. If the reply cannot be read, ``interpretation`` is an excerpt of it.

    Args:
        reply: The reply that states it.
        step_index: Index of the step.
        instruction: Text of the step with its corrections.
        now: Current time in UTC.
        kind: The execution that it is for.
    """
    if isinstance(reply, Unreadable):
        # Not validated: an excerpt may be empty.
        fields = {**_BLANK, "interpretation": format_value(_excerpt(reply.raw)), "readable": False}
    else:
        fields = {**reply.model_dump(), "readable": True}
    stated = {"step_index": step_index, "kind": kind, "instruction": instruction, **fields}
    return cast("Commitment", {**stated, "time": now.isoformat()})


def build_assessment(
    reply: AssessmentReply | Unreadable,
    step_index: int,
    output: str,
    tools_used: Sequence[str],
    now: datetime,
) -> SelfAssessment:
    """Builds a self-assessment. One that cannot be read counts as not met, with a concern that says so.

    Args:
        reply: The reply that states it.
        step_index: Index of the step.
        output: Output of the execution.
        tools_used: Names of the tools that were called.
        now: Current time in UTC.
    """
    fields = reply
    if isinstance(fields, Unreadable):
        concern = f"the self-assessment cannot be read ({fields.reason}): {_excerpt(fields.raw)}"
        fields = AssessmentReply.model_construct(met=False, deviations=[], concerns=[concern], unexpected=[])
    return SelfAssessment(
        step_index=step_index,
        actual_output=shorten(output, OUTPUT_LIMIT),
        met_commitment=fields.met,
        deviations=fields.deviations,
        concerns=fields.concerns,
        unexpected=fields.unexpected,
        # From the record, never from the reply: a model may claim tools that it did not call.
        tools_used=list(tools_used),
        readable=fields is reply,
        time=now.isoformat(),
    )


def build_verdict(reply: VerdictReply | Unreadable) -> SupervisorVerdict:
    """Builds a verdict. If the reply cannot be read, it asks a person, with a reason that says so."""
    if isinstance(reply, Unreadable):
        raw = _excerpt(" ".join(reply.raw.split()))
        reason = f"{UNREADABLE_REPLY}: {reply.reason}"
        text = f"How should this step continue? Please decide, because {reason}. The reply: {raw}".rstrip()
        return SupervisorVerdict(verdict="ask_human", correction="", question=text, reason=reason)
    detail, word = reply.detail(), reply.verdict
    return SupervisorVerdict(
        verdict=word,
        correction=detail if word == "reorient" else "",
        question=detail if word == "ask_human" else "",
        reason=reply.reason if word in ("reorient", "ask_human") else detail,
    )


def _excerpt(raw: str) -> str:
    return shorten(replace_surrogates(raw), RAW_LIMIT)
