"""Checks of the words of a text: words and phrases, its beginning and end, patterns, numbers."""

from __future__ import annotations

from abc import abstractmethod
from functools import partial
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from evaluation.checks import segmentation
from evaluation.checks.check_model import BaseCheck, CheckContext, CheckOutcome, Text, join_quoted
from evaluation.checks.segmentation import (
    Amount,
    compile_phrase,
    count_phrase,
    has_number,
    has_pattern,
    has_phrase,
)
from evaluation.findings import CheckKind, Covers
from evaluation.patterns import PatternText
from evaluation.sensitive.scanner import quote_text
from evaluation.texts.normal import fold_case, read_stated
from evaluation.values import Count, Quantity


class CountCheck(BaseCheck):
    """A number of things: ``exactly``, or between ``min`` and ``max``, both included."""

    kind: ClassVar[CheckKind] = "length"
    things: ClassVar[tuple[str, str]]
    """Singular and plural."""
    is_strict: ClassVar[bool] = False
    """Whether the least amount counts for a minimum, and the most for a maximum. Default: either is fine."""

    min: Count | None = None
    max: Count | None = None
    exactly: Count | None = None

    @model_validator(mode="after")
    def _require_bound(self) -> Self:
        if (self.exactly is None) == (self.min is None and self.max is None):
            raise ValueError("give either 'exactly', or 'min', 'max' or both")
        if self.min is not None and self.max is not None and self.min > self.max:
            raise ValueError(f"no number is at least {self.min} and at most {self.max}")
        return self

    @abstractmethod
    def _count(self, context: CheckContext) -> Amount | int:
        """Count the things."""

    def _name_things(self) -> tuple[str, str]:
        return self.things

    def _observe(self, context: CheckContext) -> CheckOutcome:
        amount = to_amount(self._count(context))
        return CheckOutcome(self._fits(amount), f"the text has {self._show(amount)}")

    def _fits(self, amount: Amount) -> bool | None:
        if self.is_strict:
            return self._includes(amount.most) and (self.min is None or amount.least >= self.min)
        if amount.is_known:
            return self._includes(amount.most) or self._is_between(amount)
        bounds = {self._includes(amount.least), self._includes(amount.most)}
        return bounds.pop() if len(bounds) == 1 and not self._is_between(amount) else None

    def _is_between(self, amount: Amount) -> bool:
        """Check whether an exact number lies between two ways to count."""
        return self.exactly is not None and amount.least <= self.exactly <= amount.most

    def _includes(self, number: int) -> bool:
        if self.exactly is not None:
            return number == self.exactly
        return (self.min or 0) <= number and (self.max is None or number <= self.max)

    def _show(self, amount: Amount) -> str:
        if amount.is_known:
            return add_noun(amount.most, self._name_things())
        return f"between {amount.least} and {amount.most} {self._name_things()[1]}"

    def _describe(self) -> str:
        return f"use {self._describe_bounds()}"

    def _describe_bounds(self) -> str:
        if self.exactly is not None:
            return f"exactly {add_noun(self.exactly, self._name_things())}"
        if self.min is not None and self.max is not None:
            return f"{self.min} to {add_noun(self.max, self._name_things())}"
        if self.min is not None:
            return f"at least {add_noun(self.min, self._name_things())}"
        return f"at most {add_noun(self.max or 0, self._name_things())}"


class WordCount(CountCheck):
    """The number of words; how they are counted depends on the script."""

    check: Literal["word_count"] = "word_count"
    things: ClassVar[tuple[str, str]] = ("word", "words")

    def _count(self, context: CheckContext) -> Amount:
        return segmentation.count_words(context.text)


class SentenceCount(CountCheck):
    """The number of sentences."""

    check: Literal["sentence_count"] = "sentence_count"
    things: ClassVar[tuple[str, str]] = ("sentence", "sentences")

    def _count(self, context: CheckContext) -> int:
        return len(context.sentences)


class ParagraphCount(CountCheck):
    """The number of paragraphs: the parts between blank lines."""

    check: Literal["paragraph_count"] = "paragraph_count"
    things: ClassVar[tuple[str, str]] = ("paragraph", "paragraphs")

    def _count(self, context: CheckContext) -> int:
        return len(segmentation.split_paragraphs(context.text))


class LineCount(CountCheck):
    """The number of lines that are not blank."""

    check: Literal["line_count"] = "line_count"
    things: ClassVar[tuple[str, str]] = ("line", "lines")

    def _count(self, context: CheckContext) -> int:
        return sum(1 for line in context.text.split("\n") if line.strip())


class CharacterCount(CountCheck):
    """The number of characters that a reader sees, with spaces unless ``spaces`` is false."""

    check: Literal["character_count"] = "character_count"
    # Blanks make no text longer, and count for a maximum.
    is_strict: ClassVar[bool] = True
    things: ClassVar[tuple[str, str]] = ("character", "characters")

    spaces: bool = True

    def _count(self, context: CheckContext) -> Amount:
        """Count the characters, and as the least number without blanks that follow another blank."""
        words = context.text.split()
        least = segmentation.count_characters((" " if self.spaces else "").join(words))
        most = segmentation.count_characters(context.text) if self.spaces else least
        return Amount(least, max(least, most))

    def _show(self, amount: Amount) -> str:
        if self.min is None or amount.least >= self.min or amount.least == amount.most:
            return super()._show(amount)
        return f"{amount.least} characters and {amount.most - amount.least} further blanks"


class Occurrences(CountCheck):
    """How often a word or phrase occurs, in any letter case."""

    check: Literal["occurrences"] = "occurrences"
    # A look-alike is no occurrence for a minimum, and is one for a maximum.
    is_strict: ClassVar[bool] = True
    kind: ClassVar[CheckKind] = "content"

    text: Text
    whole_words: bool = True
    """If false, also inside of other words."""

    @property
    def covers(self) -> Covers:
        """Missing words prove nothing of the words that are there."""
        return "content" if self.min or self.exactly else "form"

    def _name_things(self) -> tuple[str, str]:
        return f"occurrence of {quote_text(self.text)}", f"occurrences of {quote_text(self.text)}"

    def _count(self, context: CheckContext) -> Amount:
        counts = [*count_phrase(context.raw, self.text, whole_words=self.whole_words)]
        return Amount(counts[0], max(counts))

    def _show(self, amount: Amount) -> str:
        return super()._show(amount if not self.min else to_amount(amount.least))


def to_amount(count: Amount | int) -> Amount:
    """Return a known number as an amount."""
    return Amount(count, count) if isinstance(count, int) else count


def add_noun(number: int, nouns: tuple[str, str]) -> str:
    """Write a number with its noun in the singular or plural."""
    return f"{number} {nouns[0] if number == 1 else nouns[1]}"


Texts = Annotated[list[Text], Field(min_length=1)]


class _PhraseCheck(BaseCheck):
    """A search for phrases."""

    kind: ClassVar[CheckKind] = "content"

    texts: Texts
    whole_words: bool = True
    """If false, also inside of other words."""
    ignore_case: bool = True

    def _find(self, context: CheckContext, *, is_required: bool) -> list[str]:
        search = partial(has_phrase, context.raw, ignore_case=self.ignore_case, whole_words=self.whole_words)
        return [text for text in dict.fromkeys(self.texts) if search(text, is_required=is_required)]


class Contains(_PhraseCheck):
    """The text has these words or phrases: all of them, or ``at_least`` a number of them."""

    check: Literal["contains"] = "contains"

    at_least: Annotated[int, Field(ge=1)] | None = None
    """How many different ones are enough. Default: all."""

    @model_validator(mode="after")
    def _require_enough(self) -> Self:
        if self.at_least is not None and self.at_least > len(set(self.texts)):
            raise ValueError(f"'texts' has {len(set(self.texts))} different texts; 'at_least' is more")
        return self

    def _observe(self, context: CheckContext) -> CheckOutcome:
        present = self._find(context, is_required=True)
        missing = [text for text in dict.fromkeys(self.texts) if text not in present]
        passed = len(present) >= (self.at_least or len(set(self.texts)))
        verb = "are" if missing[1:] else "is"
        seen = f"{join_quoted(missing)} {verb} missing" if missing else "nothing is missing"
        return CheckOutcome(passed, seen)

    def _describe(self) -> str:
        enough = "" if self.at_least is None else f"at least {self.at_least} of "
        return f"include {enough}{join_quoted(self.texts)}"


class Excludes(_PhraseCheck):
    """The text has none of these words, phrases or marks, nor a disguise of one."""

    check: Literal["excludes"] = "excludes"
    form_alone: ClassVar[bool] = True

    def _observe(self, context: CheckContext) -> CheckOutcome:
        present = self._find(context, is_required=False)
        return CheckOutcome(not present, f"the text has {join_quoted(present) or 'none'}")

    def _describe(self) -> str:
        return f"do not use {join_quoted(self.texts, 'or')}"


class OneOf(BaseCheck):
    """The answer is one of several alternatives."""

    check: Literal["one_of"] = "one_of"
    kind: ClassVar[CheckKind] = "content"

    options: Annotated[list[Text], Field(min_length=2)]
    alone: bool = False
    """Whether the text has to be the alternative and nothing else."""

    def _observe(self, context: CheckContext) -> CheckOutcome:
        present = self._find_options(context)
        if not present:
            return CheckOutcome(False, "the text has none of them")
        only = not self.alone or _strip(fold_case(context.text)) == _strip(fold_case(present[0]))
        rest = "" if only else " and other text"
        return CheckOutcome(len(present) == 1 and only, f"the text has {join_quoted(present)}{rest}")

    def _find_options(self, context: CheckContext) -> list[str]:
        rest, present = fold_case(read_stated(context.text)), []
        # The longest first: "no" is no answer inside of "no opinion".
        for option in sorted(self.options, key=len, reverse=True):
            pattern = compile_phrase(fold_case(option), whole_words=True)
            if pattern.search(rest):
                present.append(option)
                rest = pattern.sub("\n", rest)
        return present

    def _describe(self) -> str:
        return f"answer with {'only ' if self.alone else ''}one of {join_quoted(self.options, 'or')}"


class Pattern(BaseCheck):
    """A regular expression (RE2) matches somewhere in the text, or nowhere, also behind no disguise."""

    check: Literal["regex"] = "regex"
    kind: ClassVar[CheckKind] = "content"

    pattern: PatternText
    matches: bool = True

    @property
    def covers(self) -> Covers:
        """Missing words prove nothing of the words that are there."""
        return "content" if self.matches else "form"

    def _observe(self, context: CheckContext) -> CheckOutcome:
        texts = {context.raw, context.text}
        matched = any(has_pattern(text, self.pattern, is_required=self.matches) for text in texts)
        seen = f"the pattern matches {'a part' if matched else 'nothing'}"
        return CheckOutcome(matched == self.matches, seen)

    def _describe(self) -> str:
        pattern = quote_text(self.pattern)
        return f"write a text that {'matches' if self.matches else 'does not match'} the pattern {pattern}"


class StatesNumber(BaseCheck):
    """The text states a number, in any common notation, or does not state it."""

    check: Literal["states_number"] = "states_number"
    kind: ClassVar[CheckKind] = "content"

    number: float
    tolerance: Quantity = 0.0
    """The greatest accepted difference."""
    present: bool = True
    share: bool = False
    """Whether 42 % states 42, too; else it states 0.42."""

    @property
    def covers(self) -> Covers:
        """Missing words prove nothing of the words that are there."""
        return "content" if self.present else "form"

    def _observe(self, context: CheckContext) -> CheckOutcome:
        is_stated = has_number(
            context.raw, self.number, self.tolerance, is_required=self.present, share=self.share
        )
        seen = f"the text {'states' if is_stated else 'does not state'} it"
        return CheckOutcome(is_stated == self.present, seen)

    def _describe(self) -> str:
        margin = f" +/- {self.tolerance:g}" if self.tolerance else ""
        number = repr(self.number).removesuffix(".0")
        return f"{'state' if self.present else 'do not state'} the number {number}{margin}"


def _strip(text: str) -> str:
    return " ".join(text.split()).strip(" .!\"'“”*")
