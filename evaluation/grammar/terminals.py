"""The sets of characters that the rules of a grammar name."""

from __future__ import annotations

from typing import Final

from evaluation.grammar.alphabet import LETTERS, WORD_START, Alphabet, pick_characters
from evaluation.grammar.expressions import write_character

_CAPITALS: Final = Alphabet(((0x41, 0x5A), (0xC0, 0xD6), (0xD8, 0xDE)))
_SIGNS: Final = pick_characters('.,;:!?()[]{}*_#/%&+=<>$€"“”„…–—')
_JOINTS: Final = pick_characters("'’-")
_ENDS: Final = pick_characters(".!?")


def write_terminals(alphabet: Alphabet) -> dict[str, str]:
    """Write the rules of single characters by their names.

    Args:
        alphabet: The characters that the writer may use.
    """
    sets = {
        "any": alphabet,
        "char": alphabet.exclude("\n"),
        "solid": alphabet.exclude(" \t\n"),
        "inside": alphabet.exclude("*_[]<> \t\n"),
        "quiet": alphabet.exclude("\n.!?…"),
        "start": alphabet.keep(WORD_START),
        "letter": alphabet.keep(LETTERS),
        "capital": alphabet.keep(_CAPITALS),
        "sign": alphabet.keep(_SIGNS),
        "joint": alphabet.keep(_JOINTS),
        "end": alphabet.keep(_ENDS),
    }
    return {name: write_character(each) for name, each in sets.items()}
