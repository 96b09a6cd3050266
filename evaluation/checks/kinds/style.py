"""Checks of the writing: letter case, language, punctuation."""

from __future__ import annotations

from typing import ClassVar, Final, Literal

import regex

from evaluation.checks.check_context import CheckContext
from evaluation.checks.check_model import BaseCheck, CheckKind, CheckOutcome, Text
from evaluation.checks.kinds.counts import CountCheck
from evaluation.checks.language import LANGUAGES, LanguageCode, find_other, guess_language, is_language
from evaluation.sensitive.quoting import quote_text

_TOKEN: Final = regex.compile(r"[\p{L}\p{M}\p{N}_]+(?:[-‑./&][\p{L}\p{M}\p{N}_]+)*")
_NAMED: Final = 2
"""Most sentences of another language that are named."""


class LetterCase(BaseCheck):
    """All letters are capital or small."""

    check: Literal["letter_case"] = "letter_case"
    kind: ClassVar[CheckKind] = "format"

    style: Literal["upper", "lower"]

    def _observe(self, context: CheckContext) -> CheckOutcome:
        if not any(character.isupper() or character.islower() for character in context.text):
            return CheckOutcome(None, "the text has no letters that have a case")
        wrong = next(filter(self._is_wrong, context.text.split()), None)
        return CheckOutcome(
            wrong is None, f"the word {quote_text(wrong)} differs" if wrong else "all words fit"
        )

    def _is_wrong(self, word: str) -> bool:
        tests = (str.islower,) if self.style == "upper" else (str.isupper, str.istitle)
        return any(test(letter) for test in tests for letter in word)

    def _describe(self) -> str:
        return "write all letters as capital letters" if self.style == "upper" else "use no capital letters"


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

    def _observe(self, context: CheckContext) -> CheckOutcome:
        passed = is_language(context.sentences, context.text, self.code)
        guess = guess_language(context.text)
        if guess is None:
            return CheckOutcome(passed, "the text has no letters")
        whole = f"the text is probably in {LANGUAGES.get(guess.code, repr(guess.code))}"
        if guess.code != self.code or not (other := find_other(context.sentences, self.code)):
            return CheckOutcome(passed, whole)
        named = " and ".join(map(quote_text, other[:_NAMED]))
        return CheckOutcome(passed, f"{whole}, but not {named}")

    def _describe(self) -> str:
        return f"write the whole text in {LANGUAGES[self.code]}"


class Punctuation(BaseCheck):
    """A mark is absent or present."""

    check: Literal["punctuation"] = "punctuation"
    kind: ClassVar[CheckKind] = "format"

    mark: Text
    use: Literal["absent", "present"] = "absent"

    def _observe(self, context: CheckContext) -> CheckOutcome:
        number = context.text.count(self.mark)
        seen = f"the text has {quote_text(self.mark)} {number} times"
        return CheckOutcome((number > 0) == (self.use == "present"), seen)

    def _describe(self) -> str:
        mark = quote_text(self.mark)
        return f"do not use {mark}" if self.use == "absent" else f"use {mark} at least once"
