"""Checks of the layout: headings, lists, highlights, sections, titles, placeholders, separated parts."""

from __future__ import annotations

from typing import Annotated, ClassVar, Final, Literal, Self

import regex
from pydantic import Field, model_validator

from evaluation.checks.base import BaseCheck, CheckKind, Observation, Text
from evaluation.checks.context import CheckContext
from evaluation.checks.kinds.counts import CountCheck
from evaluation.checks.segmentation import BULLET_POINT, CONTENT, NUMBERED_ITEM
from evaluation.sensitive.quoting import quote_text

HEADING: Final = regex.compile(rf"^(#{{1,6}})[ \t]+(?=.*{CONTENT})\S.*$", regex.M)
_UNDERLINED: Final = regex.compile(r"^[^\n#>*+\-\s][^\n]*\n(=+|-{3,})[ \t]*$", regex.M)
_BOLD: Final = regex.compile(r"\*\*(?![\s*])[^\n*]*[^\s*]\*\*|(?<!\w)__(?![\s_])[^\n_]*[^\s_]__(?!\w)")
_ITALIC: Final = regex.compile(
    r"(?<!\*)\*(?![\s*])[^\n*]*(?<![\s*])\*(?!\*)|(?<![\w_])_(?![\s_])[^\n_]*(?<![\s_])_(?![\w_])"
)
_TITLE: Final = regex.compile(rf"<<[^\n<>]*?{CONTENT}[^\n<>]*>>")
_PLACEHOLDER: Final = regex.compile(rf"(?<!!)\[(?![xX ]\])[^\[\]\n]*?{CONTENT}[^\[\]\n]*\](?!\()")
_FENCE: Final = regex.compile(r"^[ \t]*(```|~~~)([^\n`]*)\n.*?^[ \t]*\1[ \t]*$", regex.M | regex.S)


class HeadingCount(CountCheck):
    """The number of Markdown headings, of one level or of any."""

    check: Literal["heading_count"] = "heading_count"
    kind: ClassVar[CheckKind] = "format"
    things: ClassVar[tuple[str, str]] = ("heading", "headings")

    level: Annotated[int, Field(ge=1, le=6)] | None = None

    def _count(self, context: CheckContext) -> int:
        levels = [len(marks) for marks in HEADING.findall(context.text)]
        levels += [1 if rule.startswith("=") else 2 for rule in _UNDERLINED.findall(context.text)]
        return sum(self.level in {None, level} for level in levels)


class ListItemCount(CountCheck):
    """The number of items of lists."""

    check: Literal["list_item_count"] = "list_item_count"
    kind: ClassVar[CheckKind] = "format"
    things: ClassVar[tuple[str, str]] = ("list item", "list items")

    marker: Text = "any"
    """``bullet``, ``number``, ``any``, or a text that starts each item, such as "- " or "!?!?"."""

    def _count(self, context: CheckContext) -> int:
        if self.marker == "any":
            return len(context.list_items)
        if self.marker in {"bullet", "number"}:
            return len((BULLET_POINT if self.marker == "bullet" else NUMBERED_ITEM).findall(context.text))
        return sum(line.lstrip().startswith(self.marker) for line in context.lines)

    def _name_things(self) -> tuple[str, str]:
        if self.marker in {"any", "bullet", "number"}:
            names = {"bullet": "bullet point", "number": "numbered item"}
            name = names.get(self.marker, self.things[0])
            return name, f"{name}s"
        return (
            f"item that starts with {quote_text(self.marker)}",
            f"items that start with {quote_text(self.marker)}",
        )


class HighlightCount(CountCheck):
    """The number of highlighted parts: bold, italic, or both together."""

    check: Literal["highlight_count"] = "highlight_count"
    kind: ClassVar[CheckKind] = "format"
    things: ClassVar[tuple[str, str]] = ("highlighted part", "highlighted parts")

    style: Literal["any", "bold", "italic"] = "any"

    def _count(self, context: CheckContext) -> int:
        bold, rest = len(_BOLD.findall(context.text)), _BOLD.sub("", context.text)
        italic = len(_ITALIC.findall(rest))
        return {"any": bold + italic, "bold": bold, "italic": italic}[self.style]


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

    @model_validator(mode="after")
    def _refuse_scope(self) -> Self:
        if self.each is not None:
            raise ValueError("parts are counted in the whole text; leave out 'each'")
        return self

    def _name_things(self) -> tuple[str, str]:
        separator = quote_text(self.separator)
        return (
            f"part, separated by {separator}",
            f"{'different ' * self.different}parts, separated by {separator}",
        )

    def _split(self, context: CheckContext) -> list[str]:
        parts = [part.strip() for part in context.text.split(self.separator)]
        return parts[not parts[0] : len(parts) - (len(parts) > 1 and not parts[-1])]

    def _observe(self, context: CheckContext) -> Observation:
        parts = self._split(context)
        if "" in parts:
            return Observation(False, "one of the parts is empty")
        if self.different and len(set(parts)) < len(parts):
            return Observation(False, "two of the parts are equal")
        return super()._observe(context)

    def _count(self, context: CheckContext) -> int:
        return len(self._split(context))


class CodeBlockCount(CountCheck):
    """The number of fenced blocks of code."""

    check: Literal["code_block_count"] = "code_block_count"
    kind: ClassVar[CheckKind] = "format"
    things: ClassVar[tuple[str, str]] = ("fenced block of code", "fenced blocks of code")

    def _count(self, context: CheckContext) -> int:
        return len(_FENCE.findall(context.text))


class Title(BaseCheck):
    """The text has a title: in double angle brackets, as Markdown heading, or either."""

    check: Literal["title"] = "title"
    kind: ClassVar[CheckKind] = "format"

    style: Literal["any", "angle_brackets", "heading"] = "any"

    def _observe(self, context: CheckContext) -> Observation:
        in_brackets = self.style != "heading" and bool(_TITLE.search(context.text))
        as_heading = self.style != "angle_brackets" and bool(HEADING.match(context.text))
        passed = in_brackets or as_heading
        return Observation(passed, f"the text has {'a' if passed else 'no'} title")

    def _describe(self) -> str:
        return {
            "any": "add a title",
            "angle_brackets": "add a title in double angle brackets, such as <<title>>",
            "heading": "start with a title as Markdown heading, such as # Title",
        }[self.style]
