"""Checks of words and phrases: required, forbidden, chosen from alternatives."""

from __future__ import annotations

from abc import abstractmethod
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from evaluation.checks.base import BaseCheck, CheckKind, Observation, Text, join_quoted
from evaluation.checks.context import CheckContext
from evaluation.checks.search import has_phrase, shows_phrase
from evaluation.checks.segmentation import compile_phrase
from evaluation.texts.normal import fold_letters

Texts = Annotated[list[Text], Field(min_length=1)]


class _PhraseCheck(BaseCheck):
    """A search for phrases."""

    kind: ClassVar[CheckKind] = "content"

    texts: Texts
    whole_words: bool = True
    """If false, also inside of other words."""
    ignore_case: bool = True

    def _find(self, context: CheckContext) -> list[str]:
        return [text for text in dict.fromkeys(self.texts) if self._has(context.raw, text)]

    @abstractmethod
    def _has(self, output: str, text: str) -> bool: ...


class Contains(_PhraseCheck):
    """The text has these words or phrases: all of them, or ``at_least`` a number of them."""

    check: Literal["contains"] = "contains"

    at_least: Annotated[int, Field(ge=1)] | None = None
    """How many different ones are enough. Default: all."""
    sentence: Annotated[int, Field(ge=1)] | None = None
    """The number of the sentence that has to have them. Default: anywhere."""

    @model_validator(mode="after")
    def _require_enough(self) -> Self:
        if self.at_least is not None and self.at_least > len(set(self.texts)):
            raise ValueError(f"'texts' has {len(set(self.texts))} different texts; 'at_least' is more")
        return self

    def _observe(self, context: CheckContext) -> Observation:
        if self.sentence is not None and self.sentence > len(context.sentences):
            return Observation(False, f"the text has {len(context.sentences)} sentences")
        scope = context.get_parts("sentence")[self.sentence - 1] if self.sentence else context
        present = self._find(scope)
        missing = [text for text in dict.fromkeys(self.texts) if text not in present]
        passed = len(present) >= (self.at_least or len(set(self.texts)))
        verb = "are" if missing[1:] else "is"
        return Observation(
            passed, f"{join_quoted(missing)} {verb} missing" if missing else "nothing is missing"
        )

    def _describe(self) -> str:
        place = f" in sentence {self.sentence}" if self.sentence else ""
        if self.at_least is None:
            return f"include {join_quoted(self.texts)}{place}"
        return f"include at least {self.at_least} of {join_quoted(self.texts)}{place}"

    def _has(self, output: str, text: str) -> bool:
        return has_phrase(output, text, ignore_case=self.ignore_case, whole_words=self.whole_words)


class Excludes(_PhraseCheck):
    """The text has none of these words, phrases or marks, nor a disguise of one."""

    check: Literal["excludes"] = "excludes"

    def _observe(self, context: CheckContext) -> Observation:
        present = self._find(context)
        return Observation(
            not present, f"the text has {join_quoted(present)}" if present else "the text has none"
        )

    def _describe(self) -> str:
        return f"do not use {join_quoted(self.texts, 'or')}"

    def _has(self, output: str, text: str) -> bool:
        return shows_phrase(output, text, ignore_case=self.ignore_case, whole_words=self.whole_words)


class OneOf(BaseCheck):
    """The answer is one of several alternatives."""

    check: Literal["one_of"] = "one_of"
    kind: ClassVar[CheckKind] = "content"

    options: Annotated[list[Text], Field(min_length=2)]
    alone: bool = False
    """Whether the text has to be the alternative and nothing else."""

    def _observe(self, context: CheckContext) -> Observation:
        present = self._find_options(context)
        if not present:
            return Observation(False, "the text has none of them")
        only = not self.alone or _strip(context.folded) == _strip(fold_letters(present[0]))
        rest = "" if only else " and other text"
        return Observation(len(present) == 1 and only, f"the text has {join_quoted(present)}{rest}")

    def _find_options(self, context: CheckContext) -> list[str]:
        rest, present = context.folded, []
        # The longest first: "no" is no answer inside of "no opinion".
        for option in sorted(self.options, key=len, reverse=True):
            pattern = compile_phrase(fold_letters(option), whole_words=True)
            if pattern.search(rest):
                present.append(option)
                rest = pattern.sub("\n", rest)
        return present

    def _describe(self) -> str:
        return f"answer with {'only ' if self.alone else ''}one of {join_quoted(self.options, 'or')}"


def _strip(text: str) -> str:
    return " ".join(text.split()).strip(" .!\"'“”*")
