"""Checks that count: words, sentences, paragraphs, lines, characters, letters, syllables, occurrences."""

from __future__ import annotations

from abc import abstractmethod
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from evaluation.checks import segmentation
from evaluation.checks.check_model import BaseCheck, CheckContext, CheckOutcome, Text
from evaluation.checks.segmentation import Amount, count_phrase
from evaluation.findings import CheckKind, Covers
from evaluation.sensitive.scanner import quote_text
from evaluation.texts.normal import fold_letters
from evaluation.validation import describe_idle_bound
from evaluation.values import Count


class CountCheck(BaseCheck):
    """A number of things: ``exactly``, or between ``min`` and ``max``, both included."""

    kind: ClassVar[CheckKind] = "length"
    things: ClassVar[tuple[str, str]]
    """Singular and plural."""
    least: ClassVar[int] = 0
    """The number of them in every text that is not empty."""
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
        if problem := describe_idle_bound("min", self.min, self.least, self.max):
            raise ValueError(problem)
        return self

    @abstractmethod
    def _count(self, context: CheckContext) -> Amount | int | None:
        """Count the things; None if that is not possible."""

    def _name_things(self) -> tuple[str, str]:
        return self.things

    def _observe(self, context: CheckContext) -> CheckOutcome:
        amount = to_amount(self._count(context))
        return CheckOutcome(self._fits(amount), f"the text has {self._show(amount)}")

    def _fits(self, amount: Amount | None) -> bool | None:
        if amount is None:
            return None
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

    def _show(self, amount: Amount | None) -> str:
        if amount is None:
            return f"an unknown number of {self._name_things()[1]}"
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
        return context.word_amount


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
        return len(context.paragraphs)


class LineCount(CountCheck):
    """The number of lines that are not blank."""

    check: Literal["line_count"] = "line_count"
    least: ClassVar[int] = 1
    things: ClassVar[tuple[str, str]] = ("line", "lines")

    def _count(self, context: CheckContext) -> int:
        return len(context.lines)


class CharacterCount(CountCheck):
    """The number of characters that a reader sees, with spaces unless ``spaces`` is false."""

    check: Literal["character_count"] = "character_count"
    least: ClassVar[int] = 1
    # Blanks make no text longer, and count for a maximum.
    is_strict: ClassVar[bool] = True
    things: ClassVar[tuple[str, str]] = ("character", "characters")

    spaces: bool = True

    def _count(self, context: CheckContext) -> Amount:
        """Count the characters, and as the least number without blanks that follow another blank."""
        words = context.text.split()
        least = segmentation.count_characters((" " if self.spaces else "").join(words))
        return Amount(least, max(least, context.characters) if self.spaces else least)

    def _show(self, amount: Amount | None) -> str:
        if amount is None or self.min is None or amount.least >= self.min or amount.least == amount.most:
            return super()._show(amount)
        return f"{amount.least} characters and {amount.most - amount.least} further blanks"


class LetterCount(CountCheck):
    """How often a letter or another character occurs, in any letter case."""

    check: Literal["letter_count"] = "letter_count"
    kind: ClassVar[CheckKind] = "content"
    form_alone: ClassVar[bool] = True

    letter: Annotated[str, Field(pattern=r"^\S$")]

    def _name_things(self) -> tuple[str, str]:
        letter = quote_text(self.letter)
        return f"occurrence of the letter {letter}", f"occurrences of the letter {letter}"

    def _count(self, context: CheckContext) -> int:
        return context.folded.count(fold_letters(self.letter))


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

    def _show(self, amount: Amount | None) -> str:
        return super()._show(amount if amount is None or not self.min else to_amount(amount.least))


def to_amount(count: Amount | int | None) -> Amount | None:
    """Return a known number as an amount."""
    return Amount(count, count) if isinstance(count, int) else count


def add_noun(number: int, nouns: tuple[str, str]) -> str:
    """Write a number with its noun in the singular or plural."""
    return f"{number} {nouns[0] if number == 1 else nouns[1]}"
