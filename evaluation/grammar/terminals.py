"""The sets of characters that the rules of a grammar name."""

from __future__ import annotations

from typing import Final

from evaluation.grammar.alphabet import (
    BLANKS,
    CONTENT,
    LETTERS,
    OUTSIDE_WORDS,
    WORD_CHARACTERS,
    Alphabet,
    pick_characters,
)
from evaluation.grammar.expressions import write_character, write_literal, write_repetition
from evaluation.grammar.layout import Layout

_CAPITALS: Final = Alphabet(((0x41, 0x5A), (0xC0, 0xD6), (0xD8, 0xDE)))
_DIGITS: Final = Alphabet(((0x30, 0x39),))
_SIGNS: Final = pick_characters("""'.,;:!?()[]{}*_#/$%&+-=<>|`~\\@^"“”‘’„«»¿¡•…–—""")
_OPENERS: Final = pick_characters("\"'“„«‘([¿¡")
_ENDS: Final = pick_characters(".!?")


def write_terminals(layout: Layout) -> dict[str, str]:
    """Write the rules of single characters by their names. A set without characters has no rule."""
    alphabet = layout.alphabet.exclude(layout.reserved + layout.guarded[:1])
    sets = {
        "any": alphabet,
        "char": alphabet.exclude("\n"),
        "plain": alphabet.exclude("\n*_[]<>"),
        "after": alphabet.exclude("\n*_[]<>("),
        "solid": alphabet.exclude(BLANKS),
        "inside": alphabet.exclude("*_[]<>" + BLANKS),
        "quiet": alphabet.exclude("\n.!?…。！？؟।۔"),
        "start": alphabet.keep(CONTENT),
        "glyph": alphabet.keep(CONTENT).exclude("0123456789"),
        "word": alphabet.keep(WORD_CHARACTERS),
        "other": alphabet.keep(OUTSIDE_WORDS),
        "letter": alphabet.keep(LETTERS),
        "capital": alphabet.keep(_CAPITALS),
        "digit": alphabet.keep(_DIGITS),
        "sign": alphabet.keep(_SIGNS),
        "opener": alphabet.keep(_OPENERS),
        "end": alphabet.keep(_ENDS),
    }
    rules = {name: write_character(each) for name, each in sets.items() if each.ranges}
    return rules | _guard(rules, layout.guarded)


def _guard(rules: dict[str, str], run: str) -> dict[str, str]:
    """Write the rules by which a mark may be written, but no more of them in a row."""
    marks = write_repetition(write_literal(run[:1]), 1, len(run))
    return {name: f"{rules[name]} | {marks} {rules[name]}" for name in ("any", "char")} if run else {}
