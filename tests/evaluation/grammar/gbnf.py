"""Draws texts from a grammar in the part of GBNF that grammars of replies use."""

from __future__ import annotations

import re
from collections.abc import Iterator
from random import Random
from typing import Final

_TOKEN: Final = re.compile(r'"(?:[^"\\]|\\.)*"|\[(?:[^\]\\]|\\.)*\]|\{\d+,\d*\}|[(|)]')
_RANGE: Final = re.compile(r"(\\x..|\\u.{4}|\\U.{8}|[^\\])(?:-(\\x..|\\u.{4}|\\U.{8}|[^\\]))?")
_CHARACTER: Final = re.compile(r"\\x([0-9A-F]{2})|\\u([0-9A-F]{4})|\\U([0-9A-F]{8})|(.)", re.DOTALL)
_COMMON: Final = 0x250
_MORE: Final = 4
"""Maximum number of repetitions that are drawn beyond the least."""


def draw_text(grammar: str, random: Random) -> str:
    """Draw a text that the only rule of a grammar allows.

    Raises:
        ValueError: The grammar has something else than literals, characters, groups, choices and repetitions.
    """
    body = grammar.removeprefix("root ::= ")
    rest = _TOKEN.sub("", body)
    if rest.strip():
        raise ValueError(f"cannot read {rest.strip()[:40]!r} in {grammar!r}")
    tokens = iter(_TOKEN.findall(body))
    return _Reader(tokens, random).draw_choice()


class _Reader:
    def __init__(self, tokens: Iterator[str], random: Random) -> None:
        self.tokens = [*tokens]
        self.random = random
        self.at = 0

    def draw_choice(self) -> str:
        """Draw one of the alternatives up to the end of the group."""
        starts = [self.at, *self._find_alternatives()]
        end = self._find_end()
        self.at = self.random.choice(starts)
        text = self._draw_sequence()
        self.at = end
        return text

    def _draw_sequence(self) -> str:
        text = ""
        while self.at < len(self.tokens) and self.tokens[self.at] not in {"|", ")"}:
            start = self.at
            item = self._draw_item()
            for number in range(self._draw_count()):
                end, self.at = self.at, start
                item = self._draw_item() if number else item
                text += item
                self.at = end
        return text

    def _draw_item(self) -> str:
        token = self.tokens[self.at]
        self.at += 1
        if token == "(":
            text = self.draw_choice()
            self.at += 1
            return text
        points = [ord(character) for character in _decode(token[1:-1])]
        return "".join(map(chr, points)) if token[0] == '"' else self._draw_character(token[1:-1])

    def _draw_count(self) -> int:
        token = self.tokens[self.at] if self.at < len(self.tokens) else ""
        if token.startswith("{"):
            self.at += 1
            low, high = token[1:-1].split(",")
            return self.random.randint(int(low), min(int(low) + _MORE, int(high or int(low) + _MORE)))
        return 1

    def _draw_character(self, ranges: str) -> str:
        points = [(ord(_decode(low)), ord(_decode(high or low))) for low, high in _RANGE.findall(ranges)]
        # Few of the million characters occur in replies.
        low, high = self.random.choice([each for each in points if each[0] < _COMMON] or points)
        return chr(self.random.randint(low, min(high, _COMMON)))

    def _find_alternatives(self) -> Iterator[int]:
        return (place + 1 for place, token in self._list_own_tokens() if token == "|")

    def _find_end(self) -> int:
        return max((place for place, _ in self._list_own_tokens()), default=self.at - 1) + 1

    def _list_own_tokens(self) -> list[tuple[int, str]]:
        depth, own = 0, []
        for place in range(self.at, len(self.tokens)):
            token = self.tokens[place]
            if token == ")" and not depth:
                break
            own.append((place, "" if depth else token))
            depth += (token == "(") - (token == ")")
        return own


def _decode(text: str) -> str:
    return "".join(
        chr(int(code, 16)) if (code := "".join(match.groups("")[:3])) else match[0]
        for match in _CHARACTER.finditer(text)
    )
