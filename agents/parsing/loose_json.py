"""Finds JSON in a model's text and reads it, also if it is not quite JSON.

``repair_json`` guesses, and its guess may be wrong: never take an approval from it.
"""

from __future__ import annotations

import ast
import json
import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Final

import json_repair

REPAIR_LIMIT: Final = 4_000
"""Maximum length of a document to repair, in characters: the time grows with the square of the length."""

CONTAINER_LIMIT: Final = 1_000
"""Maximum number of objects and lists that are read from one text."""

_STRINGS: Final = r""" "[^"\\]*+(?:\\.[^"\\]*+)*+" | '[^'\\]*+(?:\\.[^'\\]*+)*+' """
_STRING: Final = re.compile(_STRINGS, re.VERBOSE | re.DOTALL)
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
    """Reads a complete document of JSON, or of Python's literals. Returns None if it cannot be read.

    Keys lose outer spaces and become lower case, since models vary both. A key that an object has twice gets
    the value None: a decoder would keep the last one.
    """
    value = load_json(text, _merge_pairs)
    return _load_literals(text) if value is None and len(text) <= REPAIR_LIMIT else value


def _merge_pairs(pairs: list[tuple[str, object]]) -> dict[str, object]:
    normalized = [(key.strip().lower(), value) for key, value in pairs]
    counts = Counter(key for key, _ in normalized)
    return {key: value if counts[key] == 1 else None for key, value in normalized}


def _load_literals(text: str) -> object:
    """Reads Python's spelling, which weak models mix up with JSON's. Executes nothing."""
    try:
        with warnings.catch_warnings(action="ignore"):  # of backslashes that escape nothing
            tree = ast.parse(text.strip(), mode="eval")
        return _read_literal(tree.body, text.strip())
    except (ValueError, SyntaxError, LookupError, TypeError, RecursionError, MemoryError):
        return None


def _read_literal(node: ast.expr | None, text: str) -> object:
    match node:
        case ast.List(items):
            return [_read_literal(item, text) for item in items]
        case ast.Dict(keys, values):
            names = [key.id if isinstance(key, ast.Name) else str(_read_literal(key, text)) for key in keys]
            return _merge_pairs([*zip(names, [_read_literal(value, text) for value in values], strict=True)])
        case ast.Name(word):
            return {"true": True, "false": False, "null": None}[word.lower()]
        case ast.Constant(str(value)) if not _STRING.fullmatch(ast.get_source_segment(text, node) or ""):
            raise ValueError(f"several texts side by side make {value!r}")
        case ast.expr():
            return ast.literal_eval(node)
    raise ValueError("a part of an object is not written as key and value")


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
