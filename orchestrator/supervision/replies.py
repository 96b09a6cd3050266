"""One pydantic model a reply, and one reader for all of them. A reply that cannot be read approves nothing.

A model accepts unusual spellings, and refuses a reply that leaves the decision open.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Annotated, Final, Self, TypeVar

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

from agents.contracts import JsonSchema, Unreadable
from agents.parsing.denials import find_denial
from agents.parsing.loose_json import load_json, read_boolean
from agents.parsing.objects import find_document, find_unmarked_thoughts, is_one_object, is_quoted
from orchestrator.state.supervision_records import Confidence, VerdictWord
from orchestrator.supervision.reply_values import (
    Entries,
    StatedEntries,
    Text,
    format_value,
    hint_entries,
    hint_text,
)

Statement = dict[str, object]
"""A decoded JSON object of a reply. Its keys are in lower case."""

NOT_ALONE: Final = "it is not one JSON object alone"
BROKEN: Final = "its JSON object is broken"
_REFUSALS: Final = {"reorient", "ask_human", "halt"}
_PROMPT_WORDS: Final = {"", "verdict", "text", "correction", "question", "reason", "continue", *_REFUSALS}
"""Words of the request that small models copy into a text."""


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


def _read_confidence(value: object) -> str:
    word = format_value(value).lower()
    return word if word in ("high", "medium", "low") else "low"


class CommitmentReply(Reply):
    """A commitment. It must state an interpretation. An unknown confidence counts as low."""

    model_config = ConfigDict(title="commitment")

    interpretation: Annotated[str, AfterValidator(format_value), Field(min_length=1), hint_text(160)]
    scope_in: Annotated[Entries, hint_entries(2, 80)]
    scope_out: Annotated[Entries, hint_entries(2, 80)]
    approach: Annotated[Text, hint_text(160)]
    predicted_output: Annotated[Text, hint_text(160)]
    confidence: Annotated[Confidence, BeforeValidator(_read_confidence)]
    assumptions: Annotated[StatedEntries, hint_entries(2, 80)]


class AssessmentReply(Reply):
    """A self-assessment. ``met`` may also be named ``met_commitment``, as in the stored record."""

    model_config = ConfigDict(title="assessment")

    met: bool
    deviations: Annotated[StatedEntries, hint_entries(3, 120)]
    concerns: Annotated[StatedEntries, hint_entries(3, 120)]
    unexpected: Annotated[StatedEntries, hint_entries(3, 120)]

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


class ReconciliationReply(Reply):
    """The result of a supervisor's own ``reconcile``."""

    triggers: StatedEntries
    escalate: Annotated[bool, BeforeValidator(read_boolean)]

    # Before the base class fills absent fields: without its list, the comparison may not have been made.
    @model_validator(mode="before")
    @classmethod
    def _require_triggers(cls, statement: Statement) -> Statement:
        if "triggers" not in statement:
            raise PydanticCustomError("no_triggers", "it has no list of triggers, not even an empty one")
        return statement


def _read_word(value: object) -> str | None:
    # The word itself must match: the nearest one to an unknown word could be its opposite.
    return re.sub(r"[ -]", "_", value.strip().lower()) if isinstance(value, str) else None


def _read_detail(value: object) -> str:
    text = format_value(value)
    return "" if _read_word(text) in _PROMPT_WORDS else text


def _contradicts_continue(statement: Statement) -> bool:
    details = [_read_detail(statement.get(name)) for name in ("correction", "question")]
    words = {_read_word(statement.get(name)) for name in ("text", "reason")}
    # A refusal may be nested under an unknown key.
    nested = [value for value in statement.values() if isinstance(value, dict | list) and value]
    return (
        any(details) or bool(nested) or not words.isdisjoint(_REFUSALS) or find_denial(statement) is not None
    )


Detail = Annotated[str, BeforeValidator(_read_detail)]


class VerdictReply(Reply):
    """A verdict, with its detail as ``text`` or under the detail's own name.

    "reorient" needs a correction and "ask_human" a question. A "continue" must not correct, ask, or contain
    another verdict.
    """

    model_config = ConfigDict(title="verdict")

    verdict: Annotated[VerdictWord, BeforeValidator(_read_word)]
    text: Annotated[Detail, hint_text(400)]
    correction: SkipJsonSchema[Detail]
    question: SkipJsonSchema[Detail]
    reason: SkipJsonSchema[Detail]

    # Before the fields are read, which drops unknown keys.
    @model_validator(mode="before")
    @classmethod
    def _check_continue(cls, statement: Statement) -> Statement:
        if _read_word(statement.get("verdict")) == "continue" and _contradicts_continue(statement):
            raise PydanticCustomError("contradiction", "it says 'continue' and something else")
        return statement

    @model_validator(mode="after")
    def _require_detail(self) -> Self:
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
    is_cut = "{" in find_unmarked_thoughts(text)
    if is_cut or not is_one_object(document):
        return Unreadable(text, NOT_ALONE)
    if is_quoted(document, shown):
        return Unreadable(text, "it is quoted from the text to be judged")
    return _validate(model, load_json(document, any_case=True), text)


def read_mapping(model: type[R], value: object) -> R | Unreadable:
    """Reads the mapping that a user's own executor or supervisor returned, as a model's reply is read."""
    if not isinstance(value, Mapping):
        return Unreadable("", f"it is a {type(value).__name__} and not a mapping")
    text = json.dumps(dict(value), default=str)
    return _validate(model, load_json(text, any_case=True), text)


def _validate(model: type[R], statement: object, text: str) -> R | Unreadable:
    if not isinstance(statement, dict):
        return Unreadable(text, BROKEN)
    try:
        return model.model_validate(statement)
    except ValidationError as error:
        problem = error.errors(include_input=False)[0]
        return Unreadable(text, ": ".join([*map(str, problem["loc"]), problem["msg"]]))
    except RecursionError:
        return Unreadable(text, "its JSON object is nested too deep")
