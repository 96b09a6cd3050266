"""Draws texts from a grammar in GBNF, without escapes but those of code points."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Final, TypeAlias

import regex

_TOKEN: Final = re.compile(r'\s*("(?:[^"\\]|\\.)*"|\[(?:[^\]\\]|\\.)*\]|\{\d+,\d*\}|[a-z]+|[(|)?*+])\s*')
_CODE: Final = r"\\x[0-9A-F]{2}|\\u[0-9A-F]{4}|\\U[0-9A-F]{8}"
_RANGE: Final = re.compile(rf"({_CODE}|[^\\])(?:-({_CODE}|[^\\]))?", re.DOTALL)
_BOUNDS: Final = {"?": (0, 1), "*": (0, None), "+": (1, None)}
_COMMON: Final = 0x250
_MORE: Final = 4
"""Maximum number of repetitions that are drawn beyond the least."""

Item: TypeAlias = "str | Characters | Choice"


@dataclass(frozen=True)
class Characters:
    ranges: list[tuple[int, int]]


@dataclass(frozen=True)
class Repetition:
    item: Item
    least: int
    most: int | None


@dataclass(frozen=True)
class Choice:
    alternatives: list[list[Repetition]]


def draw_text(grammar: str, random: Random) -> str:
    """Draw a text that a grammar allows.

    Raises:
        ValueError: The grammar cannot be read.
    """
    rules = {
        name: _read_choice(_tokenize(rule))
        for name, rule in (line.split(" ::= ", 1) for line in grammar.splitlines())
    }
    return _draw(rules["root"], rules, random)


def allows_text(grammar: str, text: str) -> bool:
    """Return whether a grammar, which has no rule that uses itself, allows a text."""
    rules = dict(line.split(" ::= ", 1) for line in grammar.splitlines())

    def expand(name: str) -> str:
        tokens = (_expand_token(token, expand) for token in _tokenize(rules[name]))
        return f"(?:{''.join(tokens)})"

    return regex.fullmatch(expand("root"), text, timeout=5) is not None


def _expand_token(token: str, expand: Callable[[str], str]) -> str:
    if token.startswith('"'):
        return f"(?:{regex.escape(_decode(token[1:-1]))})"
    return "(?:" if token == "(" else expand(token) if token.isalpha() else token


def _tokenize(rule: str) -> deque[str]:
    tokens, end = deque[str](), 0
    while end < len(rule):
        match = _TOKEN.match(rule, end)
        if match is None:
            raise ValueError(f"cannot read {rule[end : end + 40]!r}")
        tokens.append(match[1])
        end = match.end()
    return tokens


def _read_choice(tokens: deque[str]) -> Choice:
    alternatives: list[list[Repetition]] = [[]]
    while tokens and tokens[0] != ")":
        token = tokens.popleft()
        if token == "|":
            alternatives.append([])
            continue
        item = _read_item(token, tokens)
        least, most = _read_bounds(tokens)
        alternatives[-1].append(Repetition(item, least, most))
    return Choice(alternatives)


def _read_item(token: str, tokens: deque[str]) -> Item:
    if token == "(":
        choice = _read_choice(tokens)
        tokens.popleft()
        return choice
    if token.startswith("["):
        pairs = _RANGE.findall(token[1:-1])
        return Characters([(ord(_decode(low)), ord(_decode(high or low))) for low, high in pairs])
    return f'"{_decode(token[1:-1])}' if token.startswith('"') else token


def _read_bounds(tokens: deque[str]) -> tuple[int, int | None]:
    if tokens and tokens[0] in _BOUNDS:
        return _BOUNDS[tokens.popleft()]
    if tokens and tokens[0].startswith("{"):
        least, most = tokens.popleft()[1:-1].split(",")
        return int(least), int(most) if most else None
    return 1, 1


def _decode(text: str) -> str:
    return re.sub(_CODE, lambda match: chr(int(match[0][2:], 16)), text)  # noqa: FURB166


def _draw(item: Item, rules: dict[str, Choice], random: Random) -> str:
    if isinstance(item, Choice):
        return "".join(
            _draw(each.item, rules, random)
            for each in random.choice(item.alternatives)
            for _ in range(_draw_count(each, random))
        )
    if isinstance(item, Characters):
        # Few of the million characters occur in replies.
        low, high = random.choice([each for each in item.ranges if each[0] < _COMMON] or item.ranges)
        return chr(random.randint(low, min(high, max(low, _COMMON))))
    return item[1:] if item.startswith('"') else _draw(rules[item], rules, random)


def _draw_count(each: Repetition, random: Random) -> int:
    most = each.least + _MORE
    return random.randint(each.least, most if each.most is None else min(most, each.most))
