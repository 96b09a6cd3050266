"""Writes the grammar of the replies that have the form of some checks."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from typing import Final

from evaluation.checks.base import BaseCheck
from evaluation.grammar.expressions import (
    write_choice,
    write_literal,
    write_repetition,
    write_sequence,
)
from evaluation.grammar.layout import Layout, Parts, read_layout
from evaluation.grammar.terminals import write_terminals

_LINES_BEFORE_END: Final = 40
"""A small model might never come to the end of a reply that it has to end with certain words."""
_RULES: Final = {
    "line": "start char*",
    "more": r'"\x0A" "\x0A"? char+',
    "free": 'sign{0,3} " "? start',
    "highlight": 'inside+ (" " inside+){0,7}',
    "placeholder": '(char* " ")? "[" letter letter+ (" " letter letter+){0,7} "]"',
    # Not after a letter alone, which looks like an initial, nor after a digit.
    "sentence": 'capital letter+ quiet+ " " letter letter letter+ end',
    "loose": "sign{0,3} start solid*",
    "strict": "sign{0,3} start+ sign{0,3}",
    "gap": r'" " | "\x0A" | "\x0A\x0A" | "\x0A- " | "\x0A* "',
}


def write_grammar(
    checks: Sequence[BaseCheck], task: str = "", *, most_lines: int | None = None
) -> str | None:
    """Write the grammar of the replies that have the form of these checks.

    The grammar is about forms (letter case, marks, frame, parts, lists) and not about the content. A reply by
    the grammar still has to be checked, because some checks are expressed only in part, or not at all.

    Args:
        checks: The checks of the reply.
        task: The task, which a reply may have to repeat.
        most_lines: Maximum number of lines after the first of a body that no check divides; None is no bound.

    Returns:
        The grammar in GBNF, the notation of llama.cpp; None if nothing is known of the form.
    """
    layout = read_layout(checks, task)
    if layout.is_free and most_lines is None:
        return None
    if most_lines is None and (layout.closing or layout.postscript or layout.is_quoted):
        most_lines = _LINES_BEFORE_END
    rules = {"root": _write_reply(layout, most_lines), **_RULES, **write_terminals(layout.alphabet)}
    return "".join(f"{name} ::= {rule}\n" for name, rule in rules.items())


def _write_reply(layout: Layout, most_lines: int | None) -> str:
    if layout.options:
        answer = write_choice(map(write_literal, layout.options))
        return answer if layout.is_option_alone else write_sequence(answer, r'((" " | "\x0A") any+)?')
    text = write_sequence(_write_start(layout), _write_body(layout, most_lines), _write_end(layout))
    return write_sequence(r'"\x22"', text, r'"\x22"') if layout.is_quoted else text


def _write_start(layout: Layout) -> str:
    starts_line = layout.parts is not None and any(layout.parts.starts)
    gap = "\n" if starts_line and layout.gap == " " else layout.gap
    opening = write_literal(layout.opening and layout.opening + gap)
    if layout.title is None:
        return opening
    before, after = layout.title
    return write_sequence(opening, write_literal(before), "line", write_literal(after + _choose_gap(layout)))


def _write_end(layout: Layout) -> str:
    gap = _choose_gap(layout)
    postscript = write_sequence(write_literal(f"{gap}{layout.postscript} "), "line")
    return write_sequence(
        postscript if layout.postscript else "", write_literal(layout.closing and gap + layout.closing)
    )


def _choose_gap(layout: Layout) -> str:
    """Choose what separates the title and the end from the body, so that they count as no paragraph."""
    return "\n" if layout.parts is not None and layout.parts.separator == "\n\n" else "\n\n"


def _write_body(layout: Layout, most_lines: int | None) -> str:
    features = _list_features(layout)
    if layout.parts is not None:
        return _write_parts(layout.parts, features, most_lines)
    if layout.words is not None and not features:
        return _write_counted(layout, *layout.words)
    # Each highlight and each placeholder has a line of its own.
    start = _write_parts(Parts(("",) * len(features)), features, None) if features else "free char*"
    return write_sequence(start, "any*" if most_lines is None else write_repetition("more", 0, most_lines))


def _write_parts(parts: Parts, features: Sequence[str], most_lines: int | None) -> str:
    body = f" {write_literal(parts.separator)} ".join(
        _write_part(parts, start, features[at :: len(parts.starts)]) for at, start in enumerate(parts.starts)
    )
    if not parts.can_go_on:
        return body
    further = write_sequence(write_literal(parts.separator), _write_part(parts, "", []))
    return write_sequence(body, write_repetition(further, 0, most_lines))


def _write_part(parts: Parts, start: str, features: Sequence[str]) -> str:
    if parts.end:
        return write_sequence(write_literal(start), "sentence")
    first = write_sequence(f" {write_literal(' ')} ".join(features), "char*") if features else "line"
    return write_sequence(write_literal(start), first, write_repetition("more", 0, parts.more_lines))


def _list_features(layout: Layout) -> list[str]:
    """List the highlights and the placeholders that have to be somewhere, in pairs."""
    mark = write_literal(layout.highlight)
    highlights = [write_sequence(mark, "highlight", mark)] * layout.highlights
    placeholders = ["placeholder"] * layout.placeholders
    return [write_sequence(*pair) for pair in zip_longest(highlights, placeholders, fillvalue="")]


def _write_counted(layout: Layout, least: int, most: int | None) -> str:
    """Write the expression for a body with a number of words, with the words of the layout itself."""
    fixed = 1 + len(f"{layout.opening} {layout.closing}".split())
    fewer = max(0, least - fixed)
    if most is None:
        return write_sequence("loose", write_repetition("(gap) loose", fewer))
    more = max(0, most - fixed)
    # By one of the usual ways to count, a joint divides a word.
    return write_sequence("strict", write_repetition("(gap | joint) strict", min(fewer, more), more))
