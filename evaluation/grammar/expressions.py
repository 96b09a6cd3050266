"""Expressions of GBNF, the notation of grammars that llama.cpp reads."""

from __future__ import annotations

from collections.abc import Iterable

from evaluation.grammar.alphabet import Alphabet


def write_character(alphabet: Alphabet) -> str:
    """Write the expression for one character of an alphabet that is not empty."""
    ranges = (
        _escape(low) if low == high else f"{_escape(low)}-{_escape(high)}" for low, high in alphabet.ranges
    )
    return f"[{''.join(ranges)}]"


def write_literal(text: str) -> str:
    """Write the expression for a text; an empty text needs none."""
    return f'"{"".join(map(_escape_literal, text))}"' if text else ""


def write_sequence(*items: str) -> str:
    """Write the expression for items one after another; empty ones are left out."""
    return " ".join(filter(None, items))


def write_choice(items: Iterable[str]) -> str:
    """Write the expression for one of several items."""
    return f"({' | '.join(items)})"


def write_repetition(item: str, least: int, most: int | None = None) -> str:
    """Write the expression for an item that occurs ``least`` to ``most`` times; None is no bound."""
    if most == 0 or not item:
        return ""
    item = f"({item})" if " " in item else item
    return f"{item}{{{least},{'' if most is None else most}}}"


def _escape(point: int) -> str:
    character = chr(point)
    return character if character.isascii() and character.isalnum() else _escape_code(point)


def _escape_literal(character: str) -> str:
    is_plain = character.isascii() and character.isprintable() and character not in '"\\'
    return character if is_plain else _escape_code(ord(character))


def _escape_code(point: int) -> str:
    if point <= 0xFF:  # noqa: PLR2004
        return f"\\x{point:02X}"
    return f"\\u{point:04X}" if point <= 0xFFFF else f"\\U{point:08X}"  # noqa: PLR2004
