"""Finds JSON in a model's text and reads it. What is not quite JSON can be repaired.

``repair_json`` guesses, and its guess may be wrong: never take an approval from it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
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


def load_json(text: str, *, any_case: bool = False) -> object:
    """Reads a JSON document. Returns None if it is not JSON, or if an object has a key twice.

    Args:
        text: The document.
        any_case: Keys lose outer spaces and become lower case, since models vary both.
    """
    try:
        return _decode(text, any_case=any_case)
    except (ValueError, RecursionError):
        return None


def load_or_repair(text: str) -> tuple[object, bool]:
    """Reads a JSON document, and guesses the value of one that is not quite JSON.

    Returns:
        The value, and whether it is a guess. The value is None if there is none, or if a key occurs twice.
    """
    try:
        return _decode(text), False
    except _KeyTwiceError:
        return None, False
    except (ValueError, RecursionError):
        return repair_json(text, strict=True), True


class _KeyTwiceError(ValueError):
    """An object has a key twice, so that no one can say which value was meant."""


def _decode(text: str, *, any_case: bool = False) -> object:
    # Models write line breaks within strings as they are, which strict JSON forbids.
    return json.loads(text, strict=False, object_pairs_hook=fold_object if any_case else _build_object)


def fold_object(pairs: Iterable[tuple[str, object]]) -> dict[str, object]:
    """Builds an object whose keys lose outer spaces and become lower case.

    Raises:
        ValueError: A key occurs twice.
    """
    return _build_object([(key.strip().lower(), value) for key, value in pairs])


def _build_object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    value = dict(pairs)
    if len(value) < len(pairs):
        raise _KeyTwiceError
    return value


def repair_json(text: str, *, strict: bool = False) -> object:
    """Guesses the value of a broken document.

    Args:
        text: At most ``REPAIR_LIMIT`` characters are repaired.
        strict: Refuse a document with several values, of which the guess drops some.

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


def replace_surrogates(text: str) -> str:
    """Replaces each lone surrogate with U+FFFD: half of a pair, which no request and no file can carry.

    A model writes one if it cuts an emoji in two; a file name that is not UTF-8 decodes to them.
    """
    # UTF-16 joins two halves that stand side by side, which UTF-8 would replace one by one.
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
