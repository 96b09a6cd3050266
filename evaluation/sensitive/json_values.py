r"""Searching JSON values: every string, number and name in them, each with the name that it stands under.

``{"phone": 4155552671}`` is a telephone number by its name, ``"{\"pin\": 1234}"`` by a name within a text
that is itself JSON.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final

from pydantic_core import PydanticSerializationError, to_json

from evaluation.sensitive.assignments import is_credential, name_kind
from evaluation.sensitive.scanner import find, may_hold
from evaluation.sensitive.spans import Category, Span

_LONGEST_NAME: Final = 100
_HARMLESS_NAME: Final = 15
"""An identifier of this length is neither a token nor anybody's number."""
_LONGEST_NUMBER: Final = 10**30
"""No number that anybody is known by is longer; Python refuses to write one of 4300 digits."""
_BETWEEN: Final = "\n\0\n"
"""What no pattern reaches across."""
_DEEPEST_TEXT: Final = 3
"""How often a text in JSON may again be JSON."""

Find = Callable[[str], tuple[Span, ...]]


@dataclass(frozen=True, slots=True)
class Found:
    """One sensitive value as it was written, with what it is."""

    literal: str
    kind: str
    category: Category


@dataclass(frozen=True, slots=True)
class _Leaf:
    name: str
    value: object


def json_text(value: object) -> bytes:
    """Write a JSON value as UTF-8; what no JSON text can hold (half a surrogate pair) is written as "?"."""
    try:
        return to_json(value)
    except (PydanticSerializationError, ValueError, RecursionError):
        return b"\n".join(_written(leaf) for leaf in _leaves(value))


def found_in(value: object, search: Find = find) -> Iterator[Found]:
    """Yield what is sensitive in a JSON value; the same as often as it stands there.

    One pass over the JSON text settles it for a value that holds nothing like it. Otherwise all names and
    scalars are searched as one text, each on lines of its own.
    """
    if search is find and not may_hold(json_text(value)):
        return
    kind_of = cache(name_kind)
    texts: list[str] = []
    for name, text in _texts(value, 0):
        kind = kind_of(name)
        if kind is not None and is_credential(kind, text):
            yield Found(text, kind, "credential")
        else:
            texts.append(f"{name}: {text}" if name else text)
    yield from _found(_BETWEEN.join(texts), search)


def _found(text: str, search: Find) -> Iterator[Found]:
    for span in search(text):
        for part in text[span.start : span.end].split(_BETWEEN):
            yield Found(part.strip(), span.kind, span.category)


def _texts(value: object, depth: int) -> Iterator[tuple[str, str]]:
    """Yield every scalar as text, with its name; and those of a text that is itself JSON."""
    for leaf in _leaves(value):
        text = _text(leaf.value)
        if text:
            yield leaf.name, text
        if depth < _DEEPEST_TEXT and text[:1] in {"{", "["} and may_hold(text.encode("utf-8", "replace")):
            yield from _texts(_read(text), depth + 1)


def _read(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _leaves(value: object) -> Iterator[_Leaf]:
    """Yield the scalars, each with the nearest name above it, and the names themselves, which have none."""
    waiting: list[_Leaf] = [_Leaf("", value)]
    while waiting:
        leaf = waiting.pop()
        if isinstance(leaf.value, Mapping):
            waiting.extend(reversed([*_fields(leaf, leaf.value)]))
        elif isinstance(leaf.value, list | tuple):
            waiting.extend(_Leaf(leaf.name, one) for one in reversed(leaf.value))
        else:
            yield leaf


def _fields(leaf: _Leaf, fields: Mapping[object, object]) -> Iterator[_Leaf]:
    named = fields.get("name", fields.get("key"))
    for name, value in fields.items():
        if not isinstance(name, str) or len(name) > _HARMLESS_NAME or not name.isidentifier():
            yield _Leaf("", name)
        told = (named if isinstance(named, str) else leaf.name) if name == "value" else str(name)
        yield _Leaf(told[-_LONGEST_NAME:], value)


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) < _LONGEST_NUMBER:
        return str(value)
    return ""


def _written(leaf: _Leaf) -> bytes:
    return f'"{leaf.name}":"{_text(leaf.value)}"'.encode("utf-8", "replace")
