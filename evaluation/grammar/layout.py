"""Reads from checks how a reply has to be laid out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Final, TypeVar

from evaluation.checks.base import BaseCheck
from evaluation.checks.kinds import counts, data_formats, markup, placement, style, wording
from evaluation.checks.kinds.counts import CountCheck
from evaluation.grammar.expressions import Alphabet

_ANY: Final = Alphabet(((0x09, 0x0A), (0x20, 0x7E), (0xA0, 0xD7FF), (0xE000, 0x10FFFF)))
_SIGNS: Final = ((0x09, 0x0A), (0x20, 0x40), (0x5B, 0x60), (0x7B, 0x7E), (0x2010, 0x2027), (0x20AC, 0x20AC))
_CASES: Final[Mapping[str, tuple[tuple[int, int], ...]]] = {
    "lower": (*_SIGNS, (0x61, 0x7A), (0xDF, 0xF6), (0xF8, 0xFF)),
    "upper": (*_SIGNS, (0x41, 0x5A), (0xC0, 0xD6), (0xD8, 0xDE)),
}
_MOST_ITEMS: Final = 50
C = TypeVar("C", bound=BaseCheck)


@dataclass(frozen=True, slots=True)
class Parts:
    """Parts of a text.

    Attributes:
        starts: How each of the parts starts that have to be there.
        separator: The text between two parts.
        lines: Lines that a part may have besides its first.
        can_go_on: Whether further parts may follow.
    """

    starts: tuple[str, ...] = ("",)
    separator: str = "\n"
    lines: int = 0
    can_go_on: bool = False


@dataclass(frozen=True, slots=True)
class Layout:
    """The layout of a reply.

    Attributes:
        alphabet: The characters that the writer chooses from.
        opening: The text that the reply starts with, with the white space after it.
        title: How the title starts and ends; empty if there is none.
        parts: The parts of the body.
        highlights: Number of parts in asterisks, each in a line of its own.
        placeholders: Number of placeholders in square brackets, each in a line of its own.
        postscript: The marker of the postscript; empty if there is none.
        closing: The text that the reply ends with.
        quote: The quotation marks around the reply; empty if there are none.
        options: The replies to choose from; empty if the reply is free.
        sentences: Number of sentences, the least and the most; None if they are not counted.
        words: Number of words, as ``sentences``.
    """

    alphabet: Alphabet = _ANY
    opening: str = ""
    title: tuple[str, str] | None = None
    parts: Parts | None = None
    highlights: int = 0
    mark: str = "*"
    placeholders: int = 0
    postscript: str = ""
    closing: str = ""
    quote: str = ""
    options: tuple[str, ...] = ()
    sentences: tuple[int, int | None] | None = None
    words: tuple[int, int | None] | None = None


def read_layout(checks: Sequence[BaseCheck], task: str = "") -> Layout:
    """Read the layout that checks ask for. Checks that no layout expresses are left out."""
    return reduce(lambda layout, check: _apply(layout, check, task), checks, Layout())


def _apply(layout: Layout, check: BaseCheck, task: str) -> Layout:
    if getattr(check, "each", None) is not None:
        return layout
    if isinstance(check, placement.RepeatsRequest):
        return replace(layout, opening=f"{(check.text or task).strip()}\n\n")
    rule = _RULES.get(type(check))
    return layout if rule is None else rule(layout, check)


def _set_case(layout: Layout, check: style.LetterCase) -> Layout:
    ranges = _CASES.get(check.style)
    return layout if ranges is None else replace(layout, alphabet=layout.alphabet.keep(ranges))


def _set_marks(layout: Layout, check: style.Punctuation) -> Layout:
    return _exclude(layout, check.mark) if check.use == "absent" and len(check.mark) == 1 else layout


def _set_letters(layout: Layout, check: counts.LetterCount) -> Layout:
    if (check.min or check.exactly or 0) > 0 or len(check.letter) != 1:
        return layout
    return _exclude(layout, check.letter.lower() + check.letter.upper())


def _set_quote(layout: Layout, check: placement.Quoted) -> Layout:
    return replace(_exclude(layout, '"'), quote='"')


def _set_title(layout: Layout, check: markup.Title) -> Layout:
    if check.style == "angle_brackets":
        return replace(_exclude(layout, "<>"), title=("<<", ">>"))
    return replace(layout, title=("# ", ""))


def _set_parts(layout: Layout, check: markup.PartCount) -> Layout:
    number = _least(check)
    layout = _exclude(layout, check.separator[0]) if not check.separator[0].isalnum() else layout
    return _take(layout, Parts(("",) * number, f"\n\n{check.separator}\n\n", lines=8))


def _set_sections(layout: Layout, check: markup.SectionCount) -> Layout:
    starts = tuple(f"{check.marker} {number}\n" for number in range(1, _least(check) + 1))
    return _take(layout, Parts(starts, "\n\n", lines=6), True)


def _set_paragraphs(layout: Layout, check: counts.ParagraphCount) -> Layout:
    can_go_on = check.exactly is None and check.max is None
    return _take(layout, Parts(("",) * _least(check), "\n\n", can_go_on=can_go_on))


def _set_items(layout: Layout, check: markup.ListItemCount) -> Layout:
    marks = {"any": "* ", "bullet": "* "}
    number = _least(check)
    mark = marks.get(check.marker, check.marker if check.marker.endswith(" ") else f"{check.marker} ")
    starts = [f"{at}. " if check.marker == "number" else mark for at in range(1, number + 1)]
    return _take(layout, Parts(tuple(starts)))


def _set_lines(layout: Layout, check: counts.LineCount) -> Layout:
    return _take(layout, Parts(("",) * _least(check), "\n", can_go_on=check.exactly is None and check.max is None))


def _set_first_letters(layout: Layout, check: placement.FirstLetters) -> Layout:
    separators = {"line": "\n", "paragraph": "\n\n"}
    separator = separators.get(check.unit)
    letters = "".join(check.letters.split())
    if separator is None or len(letters) > _MOST_ITEMS:
        return layout
    return _take(layout, Parts(tuple(letters.upper()), separator))


def _set_word(layout: Layout, check: wording.WordAt) -> Layout:
    parts = layout.parts
    if check.unit != "paragraph" or check.position != 1 or parts is None or check.number > len(parts.starts):
        return layout
    starts = list(parts.starts)
    starts[check.number - 1] += f"{check.word} "
    return replace(layout, parts=replace(parts, starts=tuple(starts)))


def _take(layout: Layout, parts: Parts, is_first: bool = False) -> Layout:
    """Use these parts, unless the layout has some already: one structure is enough for a grammar."""
    fits = 0 < len(parts.starts) <= _MOST_ITEMS
    return replace(layout, parts=parts) if fits and (layout.parts is None or is_first) else layout


def _exclude(layout: Layout, characters: str) -> Layout:
    return replace(layout, alphabet=layout.alphabet.exclude(characters))


def _least(check: CountCheck) -> int:
    return check.exactly or check.min or min(check.max or 1, 1)


def _set_highlights(layout: Layout, check: markup.HighlightCount) -> Layout:
    return replace(layout, highlights=_least(check), mark="**" if check.style == "bold" else "*")


_RULES: Final[Mapping[type[BaseCheck], Callable[..., Layout]]] = {
    style.LetterCase: _set_case,
    style.Punctuation: _set_marks,
    counts.LetterCount: _set_letters,
    placement.Quoted: _set_quote,
    placement.StartsWith: lambda layout, check: replace(layout, opening=f"{check.text} "),
    placement.EndsWith: lambda layout, check: replace(layout, closing=check.text),
    placement.Postscript: lambda layout, check: replace(layout, postscript=f"{check.marker} "),
    placement.FirstLetters: _set_first_letters,
    markup.Title: _set_title,
    markup.PartCount: _set_parts,
    markup.SectionCount: _set_sections,
    markup.ListItemCount: _set_items,
    markup.HighlightCount: _set_highlights,
    markup.PlaceholderCount: lambda layout, check: replace(layout, placeholders=_least(check)),
    counts.ParagraphCount: _set_paragraphs,
    counts.LineCount: _set_lines,
    wording.WordAt: _set_word,
    wording.OneOf: lambda layout, check: replace(layout, options=tuple(check.options)),
}
