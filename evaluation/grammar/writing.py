"""Writes the grammar of the replies that have the form of some checks."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from typing import Final

from evaluation.checks.base import BaseCheck
from evaluation.grammar.alphabet import CASES, LETTERS, WORD_START, Alphabet
from evaluation.grammar.expressions import (
    write_character,
    write_choice,
    write_literal,
    write_repetition,
    write_sequence,
)
from evaluation.grammar.layout import Layout, Parts, read_layout

_MOST_WORDS: Final = 7
"""Words of a highlight or a placeholder after its first."""
_MOST_LINES: Final = 12
"""Lines of a free body before an end that the writer might never come to."""


def write_grammar(checks: Sequence[BaseCheck], task: str = "") -> str | None:
    """Write the grammar of the replies that have the form of these checks.

    The grammar is about forms (letter case, marks, frame, parts, lists) and not about the content. A reply by
    the grammar still has to be checked, because some checks are expressed only in part, or not at all.

    Args:
        checks: The checks of the reply.
        task: The task, which a reply may have to repeat.

    Returns:
        The grammar in GBNF, the notation of llama.cpp; None if no check is about a form.
    """
    layout = read_layout(checks, task)
    return None if layout == Layout() else f"root ::= {_write_reply(layout)}\n"


def _write_reply(layout: Layout) -> str:
    if layout.options:
        return write_choice(map(write_literal, layout.options))
    text = write_sequence(_write_start(layout), _write_body(layout), _write_end(layout))
    return write_sequence(r'"\x22"', text, r'"\x22"') if layout.is_quoted else text


def _write_start(layout: Layout) -> str:
    starts_line = layout.parts is not None and any(layout.parts.starts)
    gap = "\n" if starts_line and layout.gap == " " else layout.gap
    opening = write_literal(layout.opening and layout.opening + gap)
    if layout.title is None:
        return opening
    before, after = layout.title
    line = _write_line(layout.alphabet)
    return write_sequence(opening, write_literal(before), line, write_literal(after + _choose_gap(layout)))


def _write_end(layout: Layout) -> str:
    gap = _choose_gap(layout)
    line = _write_line(layout.alphabet)
    postscript = layout.postscript and write_sequence(write_literal(f"{gap}{layout.postscript} "), line)
    return write_sequence(postscript, write_literal(layout.closing and gap + layout.closing))


def _choose_gap(layout: Layout) -> str:
    """Choose what separates the title and the end from the body, so that they count as no paragraph."""
    return "\n" if layout.parts is not None and layout.parts.separator == "\n\n" else "\n\n"


def _write_body(layout: Layout) -> str:
    features = _list_features(layout)
    if layout.words and not features and not layout.parts:
        return _write_counted(layout, *layout.words)
    # In a free body, each highlight and each placeholder has a line of its own.
    parts = layout.parts or Parts(("",) * max(1, len(features)), can_go_on=True)
    written = (
        _write_part(layout.alphabet, parts, start, features[at :: len(parts.starts)])
        for at, start in enumerate(parts.starts)
    )
    body = f" {write_literal(parts.separator)} ".join(written)
    if not parts.can_go_on:
        return body
    has_end = layout.closing or layout.postscript or layout.is_quoted
    gap = write_literal(parts.separator)
    gap = gap if layout.parts else write_repetition(gap, 1, 2)
    further = write_sequence(gap, _write_part(layout.alphabet, parts, "", []))
    return write_sequence(body, write_repetition(further, 0, _MOST_LINES if has_end else None))


def _list_features(layout: Layout) -> list[str]:
    """List the highlights and the placeholders that have to be somewhere, in pairs."""
    mark = write_literal(layout.highlight)
    words = _write_words(layout.alphabet.exclude("*_[]<> \n"), least=1)
    highlights = [write_sequence(mark, words, mark)] * layout.highlights
    before = write_sequence(_write_rest(layout.alphabet), write_literal(" "))
    name = _write_words(layout.alphabet.keep(LETTERS), least=2)
    placeholder = write_sequence(write_repetition(before, 0, 1), write_literal("["), name, write_literal("]"))
    return [
        write_sequence(*pair)
        for pair in zip_longest(highlights, [placeholder] * layout.placeholders, fillvalue="")
    ]


def _write_counted(layout: Layout, least: int, most: int | None) -> str:
    """Write the expression for a number of words, with the words of the layout itself."""
    fixed = len(f"{layout.opening} {layout.closing}".split())
    # By one way to count, a hyphen or an apostrophe divides a word.
    joints = "" if most else "'’-"
    inside = Alphabet((*WORD_START.ranges, *((ord(each), ord(each)) for each in joints)))
    marks = layout.alphabet.keep(Alphabet(tuple((ord(each), ord(each)) for each in ".,;:!?)")))
    word = write_sequence(
        write_character(layout.alphabet.keep(WORD_START)),
        write_repetition(write_character(layout.alphabet.keep(inside)), 0),
        write_repetition(write_character(marks), 0, 2),
    )
    further = write_sequence(write_choice((r'" "', r'"\x0A"', r'"\x0A\x0A"')), word)
    more = None if most is None else max(0, most - fixed - 1)
    return write_sequence(
        word, write_repetition(further, max(0, min(least - fixed - 1, more or least)), more)
    )


def _write_words(letters: Alphabet, least: int) -> str:
    word = write_repetition(write_character(letters), least)
    return write_sequence(word, write_repetition(write_sequence(write_literal(" "), word), 0, _MOST_WORDS))


def _write_part(alphabet: Alphabet, parts: Parts, start: str, features: Sequence[str]) -> str:
    if parts.end:
        return write_sequence(write_literal(start), _write_sentence(alphabet, parts.end))
    with_features = write_sequence(f" {write_literal(' ')} ".join(features), _write_rest(alphabet))
    first = with_features if features else _write_line(alphabet)
    further = write_sequence(write_literal("\n"), _write_line(alphabet))
    return write_sequence(write_literal(start), first, write_repetition(further, 0, parts.more_lines))


def _write_rest(alphabet: Alphabet) -> str:
    return write_repetition(write_character(alphabet.exclude("\n")), 0)


def _write_line(alphabet: Alphabet) -> str:
    return write_sequence(write_character(alphabet.keep(WORD_START)), _write_rest(alphabet))


def _write_sentence(alphabet: Alphabet, marks: str) -> str:
    rest = write_repetition(write_character(alphabet.exclude("\n.!?…")), 1)
    # Not after a letter alone, which looks like an initial, nor after a digit.
    word = write_repetition(write_character(alphabet.keep(LETTERS)), 3)
    end = write_choice(map(write_literal, marks))
    capital = write_character(alphabet.keep(CASES["upper"]).keep(LETTERS))
    return write_sequence(capital, word, rest, write_literal(" "), word, end)
