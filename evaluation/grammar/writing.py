"""Writes the grammar of the replies that have the form of some checks."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import Final

from evaluation.checks.base import BaseCheck
from evaluation.checks.segmentation import count_words
from evaluation.grammar.expressions import write_choice, write_literal, write_repetition, write_sequence
from evaluation.grammar.layout import Layout, Parts
from evaluation.grammar.obstacles import has_obstacle
from evaluation.grammar.reading import read_layout
from evaluation.grammar.terminals import write_terminals

_LINES_BEFORE_END: Final = 40
"""A small model might never come to the end of a reply that it has to end with certain words."""
_LINES_BEFORE_OPTION: Final = 10
_PROSE_LINES: Final = 6
_BREAK: Final = r'"\x0A" "\x0A"?'
_TEXT: Final = re.compile(r'"[^"]*"|\[[^\]]*\]')
_NAME: Final = re.compile("[a-z]+")
_RULES: Final = {
    "line": "lead start char*",
    "lead": 'sign{0,4} (" " sign{0,4})?',
    "more": r'"\x0A" "\x0A"? char+',
    "next": r'"\x0A" " "{0,8} solid char*',
    # No number, dash or asterisk at its start, which readers take for an item of a list.
    "prose": 'opener{0,2} (glyph (glyph | " " | "\\x27") | digit{1,3} " " | digit{4,4}) char*',
    "gap": r'" " | "\x0A" "\x0A"?',
    "prefix": '(inside+ " "){0,4}',
    "highlight": 'start inside{0,30} (" " inside{1,30}){0,7}',
    "placeholder": '"[" start+ (" " start+){0,7} "]"',
    "tail": "(after plain*)?",
    # By its name: the server refuses many repetitions of a long expression.
    "joined": "between run",
    "between": "other{1,6}",
    "run": "word+",
    # Not after a letter alone, which looks like an initial, nor after a digit.
    "sentence": 'capital (quiet inner*)? " " letter letter letter+ end',
    "inner": 'quiet | "." digit',
}


def write_grammar(
    checks: Sequence[BaseCheck], task: str = "", *, most_lines: int | None = None
) -> str | None:
    """Write the grammar of the replies that have the form of these checks.

    The grammar is about forms (letter case, marks, frame, parts, lists) and not about the content. A reply by
    the grammar still has to be checked, because some checks are expressed only in part, or not at all.

    Args:
        checks: The checks of the reply. One that is not critical binds no reply.
        task: The task, which a reply may have to repeat.
        most_lines: Maximum number of lines after the first of a body that no check divides; None is no bound.

    Returns:
        The grammar in GBNF, the notation of llama.cpp; None if nothing is known of the form, or if the
        grammar might keep a reply from fulfilling another check.
    """
    critical = [check for check in checks if check.severity == "critical"]
    layout = read_layout(critical, task)
    if (layout.is_free and most_lines is None) or has_obstacle(layout, critical):
        return None
    if most_lines is None and (layout.closing or layout.postscript or layout.is_quoted):
        most_lines = _LINES_BEFORE_END
    rules = {"root": _write_reply(layout, most_lines), **_RULES, **write_terminals(layout)}
    used = _list_used(rules)
    # A set without characters has no rule: nothing could be written by it.
    return "".join(f"{name} ::= {rules[name]}\n" for name in used) if used.keys() <= rules.keys() else None


def _list_used(rules: Mapping[str, str]) -> dict[str, None]:
    """List the names of the rules that a reply uses, in the order of their use."""
    used, pending = dict[str, None](), ["root"]
    while pending:
        name = pending.pop(0)
        if name not in used:
            used[name] = None
            pending += _NAME.findall(_TEXT.sub("", rules.get(name, "")))
    return used


def _write_reply(layout: Layout, most_lines: int | None) -> str:
    text = _write_options(layout) if layout.options else _write_text(layout, most_lines)
    return write_sequence(r'"\x22"', text, r'"\x22"') if layout.is_quoted else text


def _write_options(layout: Layout) -> str:
    answer = write_choice(map(write_literal, layout.options))
    if layout.is_option_alone:
        return answer
    before = write_repetition(f"line {_BREAK}", 0, _LINES_BEFORE_OPTION)
    return write_sequence(before, answer, r'((" " | "\x0A") any*)?')


def _write_text(layout: Layout, most_lines: int | None) -> str:
    body = write_sequence(_write_body(layout, most_lines), _write_end(layout))
    if layout.is_body_optional and layout.title is None:
        return write_sequence(write_literal(layout.opening), f"({write_literal(layout.gap)} {body})?")
    return write_sequence(_write_start(layout), body)


def _write_start(layout: Layout) -> str:
    opening = write_literal(layout.opening)
    if layout.title is None and not opening:
        # An item is known by its place at the start of a line.
        return r'"\x0A"' if layout.is_quoted and layout.parts is not None and layout.parts.is_list else ""
    if layout.title is None:
        return write_sequence(opening, _write_gap(layout))
    before, after = layout.title
    title = write_sequence(write_literal(before), "start plain*", write_literal(after + _choose_gap(layout)))
    return write_sequence(opening, _BREAK if opening else "", title)


def _write_gap(layout: Layout) -> str:
    """Write what stands between the opening and the body."""
    if layout.gap or layout.parts is None:
        # Not a letter, which would go on with the last word.
        return write_literal(layout.gap) or "other{1,6}"
    if layout.parts.is_list:
        return f"(other{{1,6}} start char*)? {_BREAK}"
    return _BREAK if layout.parts.starts[0] else "gap"


def _write_end(layout: Layout) -> str:
    gap = _choose_gap(layout)
    postscript = write_sequence(write_literal(f"{gap}{layout.postscript} "), "line")
    divides = layout.parts is not None and not layout.parts.has_blank_lines
    closing = write_sequence(r'(" " | "\x0A")' if divides else "gap", write_literal(layout.closing))
    return write_sequence(postscript if layout.postscript else "", closing if layout.closing else "")


def _choose_gap(layout: Layout) -> str:
    """Choose what separates the title and the end from the body, so that they count as no paragraph."""
    return "\n" if layout.parts is not None and not layout.parts.has_blank_lines else "\n\n"


def _write_body(layout: Layout, most_lines: int | None) -> str:
    features = _list_features(layout)
    if layout.parts is not None:
        return _write_parts(layout.parts, features, most_lines)
    if layout.words is not None and not features and not layout.title and not layout.postscript:
        return _write_counted(layout, *layout.words)
    if features:  # each highlight and each placeholder has a line of its own
        start = _write_parts(Parts(("",) * len(features)), features, None)
        further = r'("\x0A" any*)?'
    else:
        start, further = "line", "any*"
    return write_sequence(start, further if most_lines is None else write_repetition("more", 0, most_lines))


def _write_parts(parts: Parts, features: Sequence[str], most_lines: int | None) -> str:
    separator = write_literal(parts.separator)
    body = f" {separator} ".join(
        _write_part(parts, start, features[at :: len(parts.starts)]) for at, start in enumerate(parts.starts)
    )
    optional = (f"({separator} {_write_part(parts, start, [])})?" for start in parts.optional_starts)
    further = write_sequence(separator, _write_part(parts, "", []))
    return write_sequence(
        write_repetition(f"prose {_BREAK}", 0, _PROSE_LINES) if parts.is_list else "",
        body,
        *optional,
        write_repetition(further, 0, most_lines) if parts.can_go_on else "",
        write_repetition(f"{_BREAK} prose", 0, _PROSE_LINES) if parts.is_list else "",
    )


def _write_part(parts: Parts, start: str, features: Sequence[str]) -> str:
    if parts.end:
        return write_sequence(write_literal(start), "sentence")
    first = "char*" if start[-1:].isalnum() else "line"
    if features:
        first = write_sequence("prefix", f" {write_literal(' ')} ".join(features), "tail")
    further = "more" if parts.has_blank_lines else "next"
    return write_sequence(write_literal(start), first, write_repetition(further, 0, parts.more_lines))


def _list_features(layout: Layout) -> list[str]:
    """List the highlights and the placeholders that have to be somewhere, in pairs."""
    mark = write_literal(layout.highlight)
    highlights = [write_sequence(mark, "highlight", mark)] * layout.highlights
    placeholders = ["placeholder"] * layout.placeholders
    pairs = zip_longest(highlights, placeholders)
    return [f" {write_literal(' ')} ".join(filter(None, pair)) for pair in pairs]


def _write_counted(layout: Layout, least: int, can_go_on: bool) -> str:
    """Write the expression for a body with a number of words, with the words of the layout itself."""
    fixed = 1 + count_words(f"{layout.opening} {layout.closing}").most
    fewer = max(0, least - fixed)
    words = write_sequence("run", write_repetition("joined", fewer, fewer))
    return write_sequence("other{0,3}", words, "(other any*)?" if can_go_on else "other{0,3}")
