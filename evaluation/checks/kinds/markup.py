"""Checks of the layout: headings, lists, highlights, titles, placeholders, separated parts, plain text."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, ClassVar, Final, Literal

import regex

from evaluation.checks.check_context import CheckContext
from evaluation.checks.check_model import BaseCheck, CheckKind, CheckOutcome, Text
from evaluation.checks.kinds.counts import CountCheck
from evaluation.checks.segmentation import BULLET_POINT, CONTENT, NUMBERED_ITEM
from evaluation.sensitive.quoting import quote_text

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

_HEADING: Final = regex.compile(rf"^(#{{1,6}})[ \t]+(?=.*{CONTENT})\S.*$", regex.M)
_UNDERLINED: Final = regex.compile(r"^[^\n#>*+\-\s][^\n]*\n(=+|-{3,})[ \t]*$", regex.M)
_BOLD: Final = regex.compile(r"\*\*(?![\s*])[^\n*]*[^\s*]\*\*|(?<!\w)__(?![\s_])[^\n_]*[^\s_]__(?!\w)")
_ITALIC: Final = regex.compile(
    r"(?<!\*)\*(?![\s*])[^\n*]*(?<![\s*])\*(?!\*)|(?<![\w_])_(?![\s_])[^\n_]*(?<![\s_])_(?![\w_])"
)
_TITLE: Final = regex.compile(rf"<<[^\n<>]*?{CONTENT}[^\n<>]*>>")
_PLACEHOLDER: Final = regex.compile(rf"(?<!!)\[(?![xX ]\])[^\[\]\n]*?{CONTENT}[^\[\]\n]*\](?!\()")
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
            return len(context.list_items)
        return len((BULLET_POINT if self.marker == "bullet" else NUMBERED_ITEM).findall(context.text))

    def _name_things(self) -> tuple[str, str]:
        name = {"any": "list item", "bullet": "bullet point", "number": "numbered item"}[self.marker]
        return name, f"{name}s"


class HighlightCount(CountCheck):
    """The number of highlighted parts: bold, italic, or both together."""

    check: Literal["highlight_count"] = "highlight_count"
    kind: ClassVar[CheckKind] = "format"
    things: ClassVar[tuple[str, str]] = ("highlighted part", "highlighted parts")

    def _count(self, context: CheckContext) -> int:
        rest, bold = _BOLD.subn("", context.text)
        return bold + len(_ITALIC.findall(rest))


class PlaceholderCount(CountCheck):
    """The number of placeholders in square brackets, such as [address]; links and check boxes are none."""

    check: Literal["placeholder_count"] = "placeholder_count"
    kind: ClassVar[CheckKind] = "format"
    things: ClassVar[tuple[str, str]] = ("placeholder in square brackets", "placeholders in square brackets")

    def _count(self, context: CheckContext) -> int:
        return len(_PLACEHOLDER.findall(context.text))


class PartCount(CountCheck):
    """The number of parts between separators; a separator at the start or end separates nothing."""

    check: Literal["part_count"] = "part_count"
    kind: ClassVar[CheckKind] = "format"

    separator: Text
    different: bool = False
    """Whether no two parts may be equal."""

    def _name_things(self) -> tuple[str, str]:
        separator = quote_text(self.separator)
        return (
            f"part, separated by {separator}",
            f"{'different ' * self.different}parts, separated by {separator}",
        )

    def _split(self, context: CheckContext) -> list[str]:
        parts = [part.strip() for part in context.text.split(self.separator)]
        return parts[not parts[0] : len(parts) - (len(parts) > 1 and not parts[-1])]

    def _observe(self, context: CheckContext) -> CheckOutcome:
        parts = self._split(context)
        if "" in parts:
            return CheckOutcome(False, "one of the parts is empty")
        if self.different and len(set(parts)) < len(parts):
            return CheckOutcome(False, "two of the parts are equal")
        return super()._observe(context)

    def _count(self, context: CheckContext) -> int:
        return len(self._split(context))


class Title(BaseCheck):
    """The text has a title: in double angle brackets, or also as Markdown heading."""

    check: Literal["title"] = "title"
    kind: ClassVar[CheckKind] = "format"

    style: Literal["any", "angle_brackets"] = "any"

    def _observe(self, context: CheckContext) -> CheckOutcome:
        passed = bool(_TITLE.search(context.text) or (self.style == "any" and _HEADING.match(context.text)))
        return CheckOutcome(passed, f"the text has {'a' if passed else 'no'} title")

    def _describe(self) -> str:
        brackets = "" if self.style == "any" else " in double angle brackets, such as <<title>>"
        return f"add a title{brackets}"


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
