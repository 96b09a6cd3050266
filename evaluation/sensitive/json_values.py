r"""Searching JSON values: every string, number and name in them, each with the name that it stands under.

``{"phone": 4155552671}`` is a telephone number by its name, ``"{\"pin\": 1234}"`` by a name within a text
that is itself JSON.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from pydantic_core import PydanticSerializationError, to_json

from evaluation.sensitive.assignments import credential_kind
from evaluation.sensitive.scanner import find, may_hold
from evaluation.sensitive.spans import Category, Span

_LONGEST_NAME: Final = 100
_HARMLESS_NAME: Final = 15
"""An identifier of this length is neither a token nor anybody's number."""
_LONGEST_NUMBER: Final = 10**30
"""No number that anybody is known by is longer; Python refuses to write one of 4300 digits."""
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
    depth: int


def json_text(value: object) -> bytes:
    """Write a JSON value as UTF-8; what no JSON text can hold (half a surrogate pair) is written as "?"."""
    try:
        return to_json(value)
    except (PydanticSerializationError, ValueError, RecursionError):
        return b"\n".join(_written(leaf) for leaf in _leaves(value))


def found_in(value: object, search: Find = find) -> Iterator[Found]:
    """Yield what is sensitive in a JSON value, in its order; the same as often as it stands there.

    One pass over the JSON text settles it for a value that holds nothing like it.
    """
    if search is find and not may_hold(json_text(value)):
        return
    for leaf in _leaves(value):
        yield from _found(leaf, search)


def _found(leaf: _Leaf, search: Find) -> Iterator[Found]:
    text = _text(leaf.value)
    kind = credential_kind(leaf.name, text) if leaf.name and text else None
    if kind:
        yield Found(text, kind, "credential")
        return
    prefix = f"{leaf.name}: " if leaf.name else ""
    for span in search(prefix + text) if text else ():
        start = max(span.start - len(prefix), 0)
        if span.end > len(prefix):
            yield Found(text[start : span.end - len(prefix)], span.kind, span.category)
    yield from _found_within(leaf, text, search)


def _found_within(leaf: _Leaf, text: str, search: Find) -> Iterator[Found]:
    """Look into a text that is itself JSON, as recorded arguments are."""
    if leaf.depth < _DEEPEST_TEXT and text[:1] in {"{", "["}:
        try:
            inner = json.loads(text)
        except (ValueError, RecursionError):
            return
        for one in _leaves(inner, leaf.depth + 1):
            yield from _found(one, search)


def _leaves(value: object, depth: int = 0) -> Iterator[_Leaf]:
    """Yield the scalars, each with the nearest name above it, and the names themselves, which have none."""
    waiting: list[_Leaf] = [_Leaf("", value, depth)]
    while waiting:
        leaf = waiting.pop()
        if isinstance(leaf.value, Mapping):
            waiting.extend(reversed([*_fields(leaf, leaf.value)]))
        elif isinstance(leaf.value, list | tuple):
            waiting.extend(_Leaf(leaf.name, one, depth) for one in reversed(leaf.value))
        else:
            yield leaf


def _fields(leaf: _Leaf, fields: Mapping[object, object]) -> Iterator[_Leaf]:
    named = fields.get("name", fields.get("key"))
    for name, value in fields.items():
        if not isinstance(name, str) or len(name) > _HARMLESS_NAME or not name.isidentifier():
            yield _Leaf("", name, leaf.depth)
        told = (named if isinstance(named, str) else leaf.name) if name == "value" else str(name)
        yield _Leaf(told[-_LONGEST_NAME:], value, leaf.depth)


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) < _LONGEST_NUMBER:
        return str(value)
    return ""


def _written(leaf: _Leaf) -> bytes:
    return f'"{leaf.name}":"{_text(leaf.value)}"'.encode("utf-8", "replace")
