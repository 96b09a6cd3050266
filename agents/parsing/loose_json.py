"""Finds JSON in a model's text and reads it, also if it is not quite JSON.

``respell_json`` rewrites a complete document in JSON's spelling and invents nothing. ``repair_json`` guesses,
and its guess may be wrong: never take an approval from it.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Final

import json_repair

REPAIR_LIMIT: Final = 4_000
"""Maximum length of a document to repair, in characters: the time grows with the square of the length."""

CONTAINER_LIMIT: Final = 1_000
"""Maximum number of objects and lists that are read from one text."""

_STRINGS: Final = r""" "[^"\\]*+(?:\\.[^"\\]*+)*+" | '[^'\\]*+(?:\\.[^'\\]*+)*+' """
# A bracket opens a list only before a JSON value: prose has brackets, too.
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


def find_containers(text: str) -> Iterator[tuple[int, int] | None]:
    """Finds the start and the end of each outermost object and list, in linear time.

    The last item is None if a container is cut off or closed with the wrong bracket, or if there are more
    than ``CONTAINER_LIMIT``.
    """
    opening = _OPENING.search(text)
    for _ in range(CONTAINER_LIMIT):
        if opening is None:
            return
        end = _find_end(text, opening.start())
        if end is None:
            break
        yield opening.start(), end
        opening = _OPENING.search(text, end)
    yield None


def _find_end(text: str, start: int) -> int | None:
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


def load_json(
    text: str, merge_pairs: Callable[[list[tuple[str, object]]], dict[str, object]] | None = None
) -> object:
    """Reads a JSON document; ``merge_pairs`` builds its objects. Returns None if it is not JSON."""
    try:
        # Models write line breaks within strings as they are, which strict JSON forbids.
        return json.loads(text, strict=False, object_pairs_hook=merge_pairs)
    except (ValueError, RecursionError):
        return None


def load_unambiguous(text: str) -> object:
    """Reads a complete document, in JSON's spelling or another. Returns None if it cannot be read.

    Keys lose outer spaces and become lower case, since models vary both. A key that an object has twice gets
    the value None: a decoder would keep the last one.
    """
    value = load_json(text, _merge_pairs)
    return load_json(respell_json(text), _merge_pairs) if value is None else value


def _merge_pairs(pairs: list[tuple[str, object]]) -> dict[str, object]:
    normalized = [(key.strip().lower(), value) for key, value in pairs]
    counts = Counter(key for key, _ in normalized)
    return {key: value if counts[key] == 1 else None for key, value in normalized}


def respell_json(text: str) -> str:
    """Rewrites a document in JSON's spelling: single quotes, bare keys and Python's literals are replaced.

    Comments and trailing commas are dropped. Anything else stays as it is.
    """
    pieces: list[str] = []
    for token in _TOKEN.finditer(text):
        piece = _respell_token(token)
        if piece in ("}", "]") and pieces[-1:] == [","]:
            pieces.pop()
        if piece:
            pieces.append(piece)
    return " ".join(pieces)


def _respell_token(token: re.Match[str]) -> str:
    text = token.group().strip()
    if token["comment"]:
        return ""
    if token["string"]:
        return text if text[0] == '"' else f'"{_ESCAPE_OR_QUOTE.sub(_swap_quotes, text[1:-1])}"'
    if token["word"]:
        return _LITERALS.get(text.lower()) or (text if _NUMBER.fullmatch(text) else json.dumps(text))
    return text


def _swap_quotes(match: re.Match[str]) -> str:
    return {"\\'": "'", '"': '\\"'}.get(match.group(), match.group())


def repair_json(text: str, *, strict: bool = False) -> object:
    """Guesses the value of a broken document.

    Args:
        text: At most ``REPAIR_LIMIT`` characters are repaired.
        strict: Refuse a document with duplicate keys or several values, of which the guess drops some.

    Returns:
        The value; None if there is none or the document is too long.
    """
    if len(text) > REPAIR_LIMIT:
        return None
    try:
        return json_repair.loads(text, strict=strict)
    except Exception:  # noqa: BLE001 - json_repair also fails with its own assertions
        return None


def read_boolean(value: object) -> bool | None:
    """Reads a boolean, or the word "true" or "false". Returns None for anything else."""
    if isinstance(value, str):
        return {"true": True, "false": False}.get(value.strip().lower())
    return value if isinstance(value, bool) else None
