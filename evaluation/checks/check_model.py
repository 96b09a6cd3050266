"""The base class of all checks, the output that they look at, and the outcome of a check."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated, ClassVar, Final, Literal, TypeAlias, cast

import regex
from pydantic import ConfigDict, Field, SerializerFunctionWrapHandler, model_serializer
from pydantic.config import JsonDict

from agents.parsing.loose_json import replace_surrogates
from evaluation.checks import segmentation
from evaluation.findings import CheckKind, Covers
from evaluation.sensitive.scanner import quote_text
from evaluation.texts.normal import remove_unseen, unify_line_ends
from evaluation.validation import InputModel
from evaluation.values import Severity

NotRun = Literal["denied", "forbidden", "unknown"]
NOT_RUN_WORDS: Final[Mapping[NotRun, str]] = {
    "denied": "was denied",
    "forbidden": "was forbidden",
    "unknown": "was not made again",
}
"""Words for a call whose tool did not run."""


@dataclass(frozen=True, slots=True)
class ToolUse:
    """One call of a tool."""

    name: str
    args: Mapping[str, object] | None = None
    """None if they were not recorded, or are no JSON object."""
    result: object = None
    error: str | None = None
    """The text of the error; None if the call succeeded."""
    not_run: NotRun | None = None
    """Why the tool did not run; None if it did."""
    outcome: str | None = None
    """What the call did, if the tool is stated to act; see ``CallOutcome``."""


@dataclass(frozen=True)
class CheckContext:
    """One output with the task that it answers."""

    output: str
    task: str = ""
    tool_calls: tuple[ToolUse, ...] = ()
    """The calls of tools, in order."""
    has_output: bool = True
    """False if the run has no final output; nothing about its text is known then."""
    has_calls: bool = True
    """False if the run does not record its tool calls."""
    given: tuple[str, ...] = ()
    """Further texts that the output may take facts from: of the user, and the context of a step."""
    messages: tuple[tuple[str, ...], ...] = ()
    """The texts of each message of the assistant: one, or one for each part."""

    @cached_property
    def text(self) -> str:
        """The output as a reader sees it, without surrounding white space and invisible characters."""
        return remove_unseen(unify_line_ends(self.raw)).strip()

    @cached_property
    def raw(self) -> str:
        """The output with all its characters, in which every one can be encoded."""
        return replace_surrogates(self.output)

    @cached_property
    def source(self) -> str:
        """The output as a program reads it: with invisible characters, without white space around it."""
        return self.raw.replace("\r\n", "\n").strip(" \t\r\n")

    @cached_property
    def sentences(self) -> tuple[str, ...]:
        """The sentences; a heading or list item without a full stop belongs to the next one."""
        return segmentation.split_sentences(self.text)

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The words; "well-known" has two, and each Chinese or Japanese character is one."""
        return segmentation.split_words(self.text)

    @cached_property
    def code(self) -> str:
        """The content of the only fenced block of code; the whole output if it has none, or several."""
        blocks = segmentation.CODE_BLOCK.findall(self.source)
        return blocks[0][1] if len(blocks) == 1 else self.source


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
    """Further text, such as the end of what a test runner printed; may have many lines."""
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
        wanted = self._describe()
        sentence = f"{wanted[0].upper()}{wanted[1:]}; {outcome.seen}."
        return replace(outcome, wanted=wanted, kind=self.kind, covers=self.covers, sentence=sentence)

    def holds(self, output: str) -> bool | None:
        """Check one text alone; unlike ``evaluate``, an empty text may fulfil the check."""
        return self._observe(CheckContext(output)).passed

    def _is_vacuous(self, context: CheckContext) -> bool:
        """Return whether a text without words fulfils the check merely because there is nothing in it."""
        return self.kind != "tool" and not _CONTENT.search(context.text) and self.holds("") is True

    @abstractmethod
    def _observe(self, context: CheckContext) -> CheckOutcome: ...

    @abstractmethod
    def _describe(self) -> str:
        """Describe the requirement as an instruction: "use at least 12 words"."""


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
