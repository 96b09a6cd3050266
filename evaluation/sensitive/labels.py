"""Numbers that only the word before them makes sensitive: ``phone: 5551234567``, ``"ssn": "123456789"``."""

from __future__ import annotations

from collections.abc import Iterator

from evaluation.sensitive.linear import Pattern, Subject

_BETWEEN = (
    r"[\"'\\\]`*\s:=#.()_\-]{0,8}"
    r"(?:(?:number|num|no|nr|nummer|n\xfamero|numero|num\x3fro|num\xe9ro|value|code|id|is|was|ist|lautet|es|est|\xe8|of|at|am|on|the|den|le|el|il)\b"
    r"[\"'\\\]`*\s:=#.()_\-]{0,8}){0,3}"
)


class Labelled:
    """A word of ``words``, what may stand between, and the place where a value may begin."""

    __slots__ = ("_pattern",)

    def __init__(self, words: str) -> None:
        self._pattern = Pattern(rf"(?i)(?:{words}){_BETWEEN}")

    def places(self, subject: Subject) -> Iterator[tuple[int, int]]:
        """Yield where the word begins, and where the value may begin."""
        return subject.spans(self._pattern)


def trigger(words: str, value: str = "[0-9+(]") -> str:
    """Make the trigger of a labelled value."""
    return rf"(?i:{words})(?:[^0-9A-Za-z]{{0,16}}(?i:[a-z]{{1,7}}\b)?){{0,3}}[^0-9A-Za-z]{{0,16}}{value}"
