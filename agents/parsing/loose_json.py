"""JSON as models write it: finding it in a text, and reading it without guessing.

Two ways of reading what is no JSON are kept apart: ``respelled`` writes a complete document the way JSON is
written and invents nothing; ``load_repaired`` guesses, and may well guess wrong.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from typing import Final

import json_repair

REPAIR_LIMIT: Final = 4_000
"""Characters up to which a broken document is guessed at: the time it takes grows with their square."""

CONTAINER_LIMIT: Final = 1_000
"""Objects and lists of one text that are looked at."""

_STRINGS: Final = r""" "[^"\\]*+(?:\\.[^"\\]*+)*+" | '[^'\\]*+(?:\\.[^'\\]*+)*+' """
_OPENING: Final = re.compile(r"""\{ | \[(?=\s*+(?: [\[{"'\d] | (?:true|false|null)\b ))""", re.VERBOSE)
_MARK: Final = re.compile(rf"""{_STRINGS} | ["'{{}}\[\]]""", re.VERBOSE | re.DOTALL)
_TOKEN: Final = re.compile(
    rf"""(?P<string>{_STRINGS}) | (?P<comment>(?://|\#)[^\n]*+) | (?P<word>[\w.+-]++) | \s++ | .""",
    re.VERBOSE | re.DOTALL,
)
_ESCAPE_OR_QUOTE: Final = re.compile(r'\\.|"', re.DOTALL)
_NUMBER: Final = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")
_LITERALS: Final = {"true": "true", "false": "false", "null": "null", "none": "null"}
_CLOSING: Final = {"{": "}", "[": "]"}


def containers(text: str) -> Iterator[tuple[int, int] | None]:
    """Where the outermost objects and lists of a text start and end, in linear time.

    The last one is None where it does not end, or ends with the wrong bracket, or where there are more
    than ``CONTAINER_LIMIT``. A square bracket counts where a JSON value follows it.
    """
    opening = _OPENING.search(text)
    for _ in range(CONTAINER_LIMIT):
        if opening is None:
            return
        end = _end_of_container(text, opening.start())
        if end is None:
            break
        yield opening.start(), end
        opening = _OPENING.search(text, end)
    yield None


def _end_of_container(text: str, start: int) -> int | None:
    expected: list[str] = []
    for token in _MARK.finditer(text, start):
        mark = token.group()
        if mark in _CLOSING:
            expected.append(_CLOSING[mark])
        elif len(mark) == 1 and mark != expected.pop():
            return None
        if not expected:
            return token.end()
    return None


def load(text: str) -> object:
    """A JSON document; None where it is none."""
    try:
        return json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return None


def load_unambiguous(text: str) -> object:
    """Like ``load``; a key that an object names twice has no value, where decoders keep the last one.

    Keys come without outer space and in lower case, since models vary both.
    """
    try:
        return json.loads(text, strict=False, object_pairs_hook=_unambiguous)
    except (ValueError, RecursionError):
        return None


def respelled(text: str) -> str:
    """A complete document as JSON spells it, from single quotes, bare keys, Python's literals and the like.

    Comments and trailing commas go. What has no counterpart stays, and makes it no JSON.
    """
    pieces: list[str] = []
    for token in _TOKEN.finditer(text):
        piece = _piece(token)
        if piece in ("}", "]") and pieces[-1:] == [","]:
            pieces.pop()
        if piece:
            pieces.append(piece)
    return " ".join(pieces)


def load_repaired(text: str) -> object:
    """A guess at what a broken document was to say; None where there is none, or it is too long."""
    if len(text) > REPAIR_LIMIT:
        return None
    try:
        return json_repair.loads(text)
    except Exception:  # noqa: BLE001 - the guesser's own faults, such as failed assertions, are no reading
        return None


def _unambiguous(pairs: list[tuple[str, object]]) -> dict[str, object]:
    named = [(key.strip().lower(), value) for key, value in pairs]
    counts = Counter(key for key, _ in named)
    return {key: value if counts[key] == 1 else None for key, value in named}


def _piece(token: re.Match[str]) -> str:
    text = token.group().strip()
    if token["comment"]:
        return ""
    if token["string"]:
        return text if text[0] == '"' else f'"{_ESCAPE_OR_QUOTE.sub(_requoted, text[1:-1])}"'
    if token["word"]:
        return _LITERALS.get(text.lower()) or (text if _NUMBER.fullmatch(text) else json.dumps(text))
    return text


def _requoted(found: re.Match[str]) -> str:
    return {"\\'": "'", '"': '\\"'}.get(found.group(), found.group())
