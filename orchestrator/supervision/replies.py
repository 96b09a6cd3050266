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
from agents.reply_types import JsonSchema, Unreadable
from evaluation.sensitive.scanner import shorten
from orchestrator.state.records import Confidence, VerdictWord

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
