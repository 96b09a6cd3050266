"""Checks of the writing and the layout: letter case, language, punctuation, headings, lists, plain text."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, ClassVar, Final, Literal

import regex

from evaluation.checks.check_model import BaseCheck, CheckContext, CheckOutcome, Text
from evaluation.checks.kinds.wording import CountCheck
from evaluation.checks.segmentation import (
    BULLET_POINT,
    CONTENT,
    LANGUAGES,
    NUMBERED_ITEM,
    LanguageCode,
    find_list_items,
    find_other,
    guess_language,
    is_language,
)
from evaluation.findings import CheckKind
from evaluation.sensitive.scanner import quote_text

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

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


_HEADING: Final = regex.compile(rf"^(#{{1,6}})[ \t]+(?=.*{CONTENT})\S.*$", regex.M)
_UNDERLINED: Final = regex.compile(r"^[^\n#>*+\-\s][^\n]*\n(=+|-{3,})[ \t]*$", regex.M)
_MARKUP: Final[Mapping[str, str]] = {
    "heading_open": "a heading",
    "hr": "a horizontal rule",
    "bullet_list_open": "a bullet point",
    "blockquote_open": "a block quote",
    "fence": "a code block",
    "table_open": "a table",
    "link_open": "a link",
    "image": "an image",
    "code_inline": "text in backticks",
    "em_open": "bold or italic text",
    "strong_open": "bold or italic text",
    "s_open": "text that is struck through",
}
"""What a renderer shows as markup, by the parser's name of it."""
_FOOTNOTE: Final = regex.compile(r"\[\^[^\[\]\n]++\]")


class HeadingCount(CountCheck):
    """The number of Markdown headings."""

    check: Literal["heading_count"] = "heading_count"
    kind: ClassVar[CheckKind] = "format"
    things: ClassVar[tuple[str, str]] = ("heading", "headings")

    def _count(self, context: CheckContext) -> int:
        return len(_HEADING.findall(context.text)) + len(_UNDERLINED.findall(context.text))


class ListItemCount(CountCheck):
    """The number of items of lists."""

    check: Literal["list_item_count"] = "list_item_count"
    kind: ClassVar[CheckKind] = "format"

    marker: Literal["any", "bullet", "number"] = "any"

    def _count(self, context: CheckContext) -> int:
        if self.marker == "any":
            return len(find_list_items(context.text))
        return len((BULLET_POINT if self.marker == "bullet" else NUMBERED_ITEM).findall(context.text))

    def _name_things(self) -> tuple[str, str]:
        name = {"any": "list item", "bullet": "bullet point", "number": "numbered item"}[self.marker]
        return name, f"{name}s"


class Markdown(BaseCheck):
    """The text has no Markdown markup; numbered lines, bare addresses and HTML tags are none."""

    check: Literal["markdown"] = "markdown"
    kind: ClassVar[CheckKind] = "format"

    use: Literal["absent"] = "absent"

    def _observe(self, context: CheckContext) -> CheckOutcome:
        name = _find_markup(context.text)
        return CheckOutcome(name is None, f"the text has {name or 'no Markdown markup'}")

    def _describe(self) -> str:
        return "write plain text without Markdown"


def _find_markup(text: str) -> str | None:
    """Return the name of something that a renderer shows as markup."""
    if _FOOTNOTE.search(text):
        return "a footnote"
    tokens = (inner for token in _load_parser().parse(text) for inner in (token, *(token.children or ())))
    return next((_MARKUP[token.type] for token in tokens if token.type in _MARKUP), None)


@cache
def _load_parser() -> MarkdownIt:
    from markdown_it import MarkdownIt  # noqa: PLC0415 - on first use: it takes a quarter of a second

    # An indented line of plain text is no code, and a reader sees the backslash of an escape.
    return MarkdownIt("commonmark").enable(["table", "strikethrough"]).disable(["code", "escape"])
