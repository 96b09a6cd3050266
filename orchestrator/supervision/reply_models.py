"""One pydantic model per reply: commitment, self-assessment, verdict, reconciliation.

A model accepts unusual spellings, and refuses a reply that leaves the decision open.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Annotated, ClassVar, Final, Self

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator
from pydantic.config import JsonDict
from pydantic.json_schema import SkipJsonSchema
from pydantic_core import PydanticCustomError

from agents.contracts import JsonSchema
from agents.parsing.denials import find_denial
from agents.parsing.loose_json import read_boolean
from orchestrator.state.supervision_records import Confidence, VerdictWord
from orchestrator.supervision.reply_fields import (
    Entries,
    OptionalEntries,
    Text,
    encode_value,
    format_value,
    is_doubtful,
)

Statement = dict[str, object]
"""A decoded JSON object of a reply. Its keys are in lower case."""

_REFUSALS: Final = {"reorient", "ask_human", "halt"}
_PROMPT_WORDS: Final = {"", "verdict", "text", "correction", "question", "reason", "continue", *_REFUSALS}
"""Words of the request that small models copy into a text."""


def _build_config(title: str, description: str) -> ConfigDict:
    extra: JsonDict = {"description": description, "additionalProperties": False}
    return ConfigDict(title=title, json_schema_extra=extra)


def _hint_text(longest: int) -> object:
    """Limits a text in the JSON schema only: a model without schema may write more, which is cut later."""
    return Field(json_schema_extra={"minLength": 3, "maxLength": longest})


def _hint_entries(most: int, longest: int) -> object:
    items: JsonDict = {"type": "string", "minLength": 3, "maxLength": longest}
    return Field(json_schema_extra={"items": items, "maxItems": most})


class Reply(BaseModel):
    """Base class of the replies. Reads an absent field as an empty text, and ignores unknown keys.

    Attributes:
        sign: Matches the objects of a text that are meant as this reply.
    """

    model_config = ConfigDict(frozen=True)
    sign: ClassVar[re.Pattern[str]]

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

    def is_approval(self) -> bool:
        """Checks whether the reply lets the step pass."""
        return False

    def decision(self) -> object:
        """Returns the part in which all objects of a reply must agree."""
        return self


def _read_confidence(value: object) -> str:
    word = format_value(value).lower()
    return word if word in ("high", "medium", "low") else "low"


class CommitmentReply(Reply):
    """A commitment. It must state an interpretation. An unknown confidence counts as low."""

    model_config = _build_config("commitment", "What will be done in a step.")
    # ``\u``, here and below: an object whose keys are escaped could contain the reply, too.
    sign = re.compile(
        r"""(?:interpretation|approach|predicted_output|confidence|assumptions)["']?+\s*+: | \\u""",
        re.IGNORECASE | re.VERBOSE,
    )

    interpretation: Annotated[str, AfterValidator(format_value), Field(min_length=1), _hint_text(160)]
    scope_in: Annotated[OptionalEntries, _hint_entries(2, 80)]
    scope_out: Annotated[OptionalEntries, _hint_entries(2, 80)]
    approach: Annotated[Text, _hint_text(160)]
    predicted_output: Annotated[Text, _hint_text(160)]
    confidence: Annotated[Confidence, BeforeValidator(_read_confidence)]
    assumptions: Annotated[Entries, _hint_entries(2, 80)]


class AssessmentReply(Reply):
    """A self-assessment. ``met`` may also be named ``met_commitment``, as in the stored record."""

    model_config = _build_config("assessment", "How what was done differs from what was to be done.")
    sign = re.compile(
        r"""(?:met|met_commitment|deviations|concerns|unexpected)["']?+\s*+: | \\u""",
        re.IGNORECASE | re.VERBOSE,
    )

    met: bool
    deviations: Annotated[Entries, _hint_entries(3, 120)]
    concerns: Annotated[Entries, _hint_entries(3, 120)]
    unexpected: Annotated[Entries, _hint_entries(3, 120)]

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

    def is_approval(self) -> bool:
        """Checks whether the commitment was met."""
        return self.met


class ReconciliationReply(Reply):
    """The result of a supervisor's own ``reconcile``."""

    triggers: Entries
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
    nested = [value for value in statement.values() if isinstance(value, dict | list)]
    is_denied = find_denial(statement) is not None or is_doubtful(encode_value(nested))
    return any(details) or not words.isdisjoint(_REFUSALS) or is_denied


Detail = Annotated[str, BeforeValidator(_read_detail)]


class VerdictReply(Reply):
    """A verdict, with its detail as ``text`` or under the detail's own name.

    "reorient" needs a correction and "ask_human" a question. A "continue" must not correct, ask, or contain
    another verdict.
    """

    model_config = _build_config("verdict", "How a step goes on.")
    sign = re.compile(r"verdict|correction|question|reorient|halt|ask.?human|\\u", re.IGNORECASE)

    verdict: Annotated[VerdictWord, BeforeValidator(_read_word)]
    text: Annotated[Detail, _hint_text(400)]
    correction: SkipJsonSchema[Detail]
    question: SkipJsonSchema[Detail]
    reason: SkipJsonSchema[Detail]

    # Before the fields are read, which drops unknown keys: a refusal may be nested under one of them.
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

    def is_approval(self) -> bool:
        """Checks whether the step continues."""
        return self.verdict == "continue"

    def decision(self) -> VerdictWord:
        """Returns the verdict word. Repeated verdicts may word their details differently."""
        return self.verdict

    def detail(self) -> str:
        """Returns the correction, question or reason that belongs to the verdict."""
        named = {"reorient": self.correction, "ask_human": self.question}.get(self.verdict, self.reason)
        return named or self.text or ("no reason given" if self.verdict == "halt" else "")
