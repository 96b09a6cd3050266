"""Checks of the writing: letter case, language, punctuation, emoji, white space."""

from __future__ import annotations

from typing import ClassVar, Final, Literal

import regex

from evaluation.checks.base import BaseCheck, CheckKind, Observation, Text
from evaluation.checks.context import CheckContext
from evaluation.checks.kinds.counts import CountCheck
from evaluation.checks.language import LANGUAGES, LanguageCode, find_other, guess_language, is_language
from evaluation.sensitive.quoting import quote_text

_TOKEN: Final = regex.compile(r"[\p{L}\p{M}\p{N}_]+(?:[-‑./&][\p{L}\p{M}\p{N}_]+)*")
_NAMED: Final = 2
"""Most sentences of another language that are named."""
_MINOR: Final = frozenset(
    {
        "a",
        "an",
        "and",
        "as",
        "at",
        "but",
        "by",
        "for",
        "from",
        "if",
        "in",
        "nor",
        "of",
        "off",
        "on",
        "or",
        "per",
    }
    | {"so", "than", "the", "to", "up", "via", "with", "yet"}
)


class LetterCase(BaseCheck):
    """All letters are capital or small, or each major word starts with a capital letter."""

    check: Literal["letter_case"] = "letter_case"
    kind: ClassVar[CheckKind] = "format"

    style: Literal["upper", "lower", "title"]

    def _observe(self, context: CheckContext) -> Observation:
        if not any(character.isupper() or character.islower() for character in context.text):
            return Observation(None, "the text has no letters that have a case")
        # Signs such as Ⓐ have a case, too, and are no letters of a word.
        words = context.words if self.style == "title" else context.text.split()
        wrong = next(filter(self._is_wrong, words), None)
        return Observation(
            wrong is None, f"the word {quote_text(wrong)} differs" if wrong else "all words fit"
        )

    def _is_wrong(self, word: str) -> bool:
        if self.style == "upper":
            return any(map(str.islower, word))
        if self.style == "lower":
            return any(map(str.isupper, word)) or any(map(str.istitle, word))
        return word[0].islower() and len(word) > 1 and word not in _MINOR

    def _describe(self) -> str:
        names = {"upper": "write all letters as capital letters", "lower": "use no capital letters"}
        return names.get(self.style, "start each major word with a capital letter")


class CapitalWordCount(CountCheck):
    """The number of words in which all letters are capital; "I" and "A" are such words."""

    check: Literal["capital_word_count"] = "capital_word_count"
    kind: ClassVar[CheckKind] = "format"
    things: ClassVar[tuple[str, str]] = ("word in capital letters", "words in capital letters")

    def _count(self, context: CheckContext) -> int:
        return sum(map(str.isupper, _TOKEN.findall(context.text)))


class Language(BaseCheck):
    """The text is in one language; short names and quotations in others are accepted."""

    check: Literal["language"] = "language"
    kind: ClassVar[CheckKind] = "language"

    code: LanguageCode

    def _observe(self, context: CheckContext) -> Observation:
        passed = is_language(context.sentences, context.text, self.code)
        guess = guess_language(context.text)
        if guess is None:
            return Observation(passed, "the text has no letters")
        whole = f"the text is probably in {LANGUAGES.get(guess.code, repr(guess.code))}"
        if guess.code != self.code or not (other := find_other(context.sentences, self.code)):
            return Observation(passed, whole)
        named = " and ".join(map(quote_text, other[:_NAMED]))
        return Observation(passed, f"{whole}, but not {named}")

    def _describe(self) -> str:
        return f"write the whole text in {LANGUAGES[self.code]}"


class Punctuation(BaseCheck):
    """A mark is absent, present, or at the end of the text or of each sentence."""

    check: Literal["punctuation"] = "punctuation"
    kind: ClassVar[CheckKind] = "format"

    mark: Text
    use: Literal["absent", "present", "end_of_text", "end_of_sentences"] = "absent"

    def _observe(self, context: CheckContext) -> Observation:
        number = context.text.count(self.mark)
        seen = f"the text has {quote_text(self.mark)} {number} times"
        if self.use == "end_of_text":
            return Observation(
                context.text.endswith(self.mark), f"the text ends with {quote_text(context.text[-1:])}"
            )
        if self.use == "end_of_sentences":
            wrong = [sentence for sentence in context.sentences if not sentence.endswith(self.mark)]
            return Observation(not wrong and number > 0, f"{len(wrong)} sentences end with another mark")
        return Observation((number > 0) == (self.use == "present"), seen)

    def _describe(self) -> str:
        mark = quote_text(self.mark)
        return {
            "absent": f"do not use {mark}",
            "present": f"use {mark} at least once",
            "end_of_text": f"end the text with {mark}",
            "end_of_sentences": f"end each sentence with {mark}",
        }[self.use]
