"""Writes the grammar of a layout."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from evaluation.checks.base import BaseCheck
from evaluation.grammar.expressions import Alphabet, join, literal, repeat, sequence
from evaluation.grammar.layout import Layout, Parts, read_layout

_LINES: Final = 12
_WORD_STARTS: Final = ((0x30, 0x39), (0x41, 0x5A), (0x61, 0x7A), (0xC0, 0xD6), (0xD8, 0xF6), (0xF8, 0x2FF), (0x370, 0x1FFF), (0x2C00, 0x2DFF), (0x3040, 0xD7FF))


def write_grammar(checks: Sequence[BaseCheck], task: str = "") -> str | None:
    """Write the grammar of the texts that have the form of these checks; None if no check is about a form."""
    layout = read_layout(checks, task)
    return None if layout == Layout() else f"root ::= {_write_reply(layout)}\n"


def _write_reply(layout: Layout) -> str:
    if layout.options:
        return " | ".join(map(literal, layout.options))
    text = sequence(
        layout.opening and literal(layout.opening), _write_title(layout), _write_body(layout), _write_end(layout)
    )
    return sequence(literal(layout.quote), text, literal(layout.quote)) if layout.quote else text


def _write_title(layout: Layout) -> str:
    if layout.title is None:
        return ""
    start, end = layout.title
    return sequence(literal(start), _line(layout.alphabet), literal(f"{end}\n\n"))


def _write_end(layout: Layout) -> str:
    postscript = layout.postscript and sequence(literal(f"\n\n{layout.postscript}"), _line(layout.alphabet))
    return sequence(postscript, layout.closing and literal(f"\n\n{layout.closing}"))


def _write_body(layout: Layout) -> str:
    parts = layout.parts or Parts(can_go_on=True)
    features = _list_features(layout)
    starts = [*parts.starts]
    # without parts, each highlight and placeholder has a line of its own
    missing = len(features) - len(starts) if parts.can_go_on else 0
    starts += [""] * max(0, missing)
    first = starts[0]
    body = join(
        (_write_part(layout, parts, start, features[at] if at < len(features) else "") for at, start in enumerate(starts)),
        parts.separator,
    )
    extra = len(features) - len(starts)
    if not parts.can_go_on:
        return body
    is_bounded = bool(layout.closing or layout.postscript or layout.quote)
    gap = repeat(literal("\n"), 1, 2) if parts.separator == "\n" else literal(parts.separator)
    return sequence(body, repeat(sequence(gap, _line(layout.alphabet)), 0, _LINES if is_bounded else None))


def _list_features(layout: Layout) -> list[str]:
    number = max(layout.highlights, layout.placeholders)
    word = repeat(layout.alphabet.exclude("*_ \n\t[]").write(), 1)
    mark = literal(layout.mark)
    inside = layout.alphabet.exclude("*_\n\t[]")
    end = layout.alphabet.exclude("*_ \n\t[]").write()
    highlight = sequence(mark, end, repeat(sequence(repeat(inside.write(), 0), end), 0, 1), mark)
    inner = layout.alphabet.exclude("[]\n\t")
    before = sequence(repeat(inner.write(), 0, 60), literal("["), word, repeat(sequence(literal(" "), word), 0, 3), literal("]"))
    return [
        sequence(highlight if at < layout.highlights else "", before if at < layout.placeholders else "")
        for at in range(number)
    ]


def _write_part(layout: Layout, parts: Parts, start: str, feature: str) -> str:
    line = repeat(layout.alphabet.exclude("\n").write(), 0) if feature else _line(layout.alphabet)
    more = repeat(sequence(literal("\n"), _line(layout.alphabet)), 0, parts.lines)
    return sequence(start and literal(start), feature, line, more)


def _line(alphabet: Alphabet) -> str:
    return sequence(alphabet.keep(_WORD_STARTS).write(), repeat(alphabet.exclude("\n").write(), 0))
