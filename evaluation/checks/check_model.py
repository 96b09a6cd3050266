"""The base class of all checks, and the outcome of a check."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, ClassVar, Final, Literal, TypeAlias, cast

import regex
from pydantic import ConfigDict, Field, SerializerFunctionWrapHandler, model_serializer
from pydantic.config import JsonDict

from evaluation.checks.check_context import CheckContext
from evaluation.sensitive.quoting import quote_text
from evaluation.validation.problems import InputModel
from evaluation.values import Severity

CheckKind: TypeAlias = Literal["format", "content", "length", "language", "tool"]
Covers: TypeAlias = Literal["form", "content", "actions"]
COVERS: Final[Mapping[CheckKind, Covers]] = {
    "format": "form",
    "length": "form",
    "language": "form",
    "content": "content",
    "tool": "actions",
}
_CONTENT: Final = regex.compile("[[\\p{L}\\p{N}\\p{So}\\p{Sc}\\p{Sm}{}\\[\\]]--\ufffd]", regex.V1)
"""Matches what may be an answer, also as empty JSON; U+FFFD replaces what cannot be read."""
Text: TypeAlias = Annotated[str, Field(pattern=r"\S")]
"""A text that is not blank."""


@dataclass(frozen=True, slots=True)
class CheckOutcome:
    """The outcome of one check for one output; a function with ``@check`` may give the first fields alone."""

    passed: bool | None
    """None if that cannot be known; a person has to decide."""
    seen: str = ""
    """What the output has, as a main clause: "the text has 12 words"."""
    wanted: str = ""
    """What the task wants, as an instruction: "use at most 10 words"."""
    kind: CheckKind = "content"
    covers: Covers = "content"
    sentence: str = ""
    """What the executor has to change. It reveals nothing of the check that the task does not say."""
    evidence: str = ""
    """The end of the output of a command, redacted; may have many lines."""
    is_error: bool = False
    """Whether the check itself raised or took too long; ``passed`` is None then, which no judge settles."""


def require_kind(schema: JsonDict) -> None:
    """Say in JSON Schema that the kind has to be given, although it is the default of its own model."""
    schema["required"] = ["check", *cast("list[str]", schema.get("required", []))]


class CheckModel(InputModel):
    """An item of a contract's list of checks; a subclass has the literal field ``check`` with its name."""

    model_config = ConfigDict(json_schema_extra=require_kind)

    @model_serializer(mode="wrap")
    def _write_kind(self, write: SerializerFunctionWrapHandler) -> dict[str, object]:
        # Also if only the fields that were set are written: without its kind, no check can be read.
        return {"check": self.get_name(), **write(self)}

    @classmethod
    def get_name(cls) -> str:
        """Return the value of the field ``check``."""
        return str(cls.model_fields["check"].default)


class BaseCheck(CheckModel):
    """One requirement on an output, which a pure function decides."""

    kind: ClassVar[CheckKind]
    """The kind of failure that a violation is."""
    form_alone: ClassVar[bool] = False
    """Whether it covers the form of an answer, although its violation is a failure of the content."""

    severity: Severity = "critical"
    quote: str | None = None
    """The words of the task that state the requirement."""

    @property
    def covers(self) -> Covers:
        """The part of an answer that the check is about: its form, its content, or the actions."""
        return "form" if self.form_alone else COVERS[self.kind]

    def evaluate(self, context: CheckContext) -> CheckOutcome:
        """Check one output; the same output always has the same outcome. An empty one fulfils no check."""
        outcome = _observe_missing(context, self.kind) or self._observe(context)
        if outcome.passed and self._is_vacuous(context):
            outcome = CheckOutcome(False, "the text has nothing but punctuation marks")
        wanted = self.describe()
        sentence = f"{wanted[0].upper()}{wanted[1:]}; {outcome.seen}."
        return replace(outcome, wanted=wanted, kind=self.kind, covers=self.covers, sentence=sentence)

    def describe(self) -> str:
        """Describe the requirement as an instruction: "use at least 12 words"."""
        return self._describe()

    def holds(self, output: str) -> bool | None:
        """Check one text alone; unlike ``evaluate``, an empty text may fulfil the check."""
        return self._observe(CheckContext(output)).passed

    def _is_vacuous(self, context: CheckContext) -> bool:
        """Return whether a text without words fulfils the check merely because there is nothing in it."""
        return self.kind != "tool" and not _CONTENT.search(context.text) and self.holds("") is True

    @abstractmethod
    def _observe(self, context: CheckContext) -> CheckOutcome: ...

    @abstractmethod
    def _describe(self) -> str: ...


def _observe_missing(context: CheckContext, kind: CheckKind) -> CheckOutcome | None:
    """Observe an output that is missing or empty; returns None if there is something to check."""
    missing = find_missing(context, kind)
    if missing is not None:
        return CheckOutcome(None, missing)
    # An empty output has no comma and few words, but it is no answer.
    return None if context.text or kind == "tool" else CheckOutcome(False, "the text is empty")


def find_missing(context: CheckContext, kind: CheckKind) -> str | None:
    """Return the missing input for a check of this kind as a clause; None if the run has all."""
    if kind == "tool":
        return None if context.has_calls else "the run does not record its tool calls"
    return None if context.has_output else "the run has no final output"


def join_quoted(texts: list[str], conjunction: str = "and") -> str:
    """Quote texts in one enumeration: "a", "b" and "c"."""
    quoted = [quote_text(text) for text in texts]
    return f" {conjunction} ".join([", ".join(quoted[:-1]), quoted[-1]] if quoted[1:] else quoted)
