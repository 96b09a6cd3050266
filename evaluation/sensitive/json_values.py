r"""Finds sensitive data in JSON values: in every string, number and field name.

The field name counts: ``{"phone": 4155552671}`` is a telephone number because of its name, and
``"{\"pin\": 1234}"`` a PIN because of a name inside a string that is itself JSON.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Final

from pydantic_core import PydanticSerializationError, to_json

from agents.credentials.secret_places import is_credential
from agents.credentials.secret_values import name_kind
from agents.credentials.spans import Category
from evaluation.sensitive.scanner import FIELD_SEPARATOR, Search, find_sensitive, may_contain_sensitive

_MAX_NAME_LENGTH: Final = 100
_HARMLESS_NAME_LENGTH: Final = 15
"""An identifier up to this length is neither a token nor a person's number."""
_LARGEST_NUMBER: Final = 10**30
"""No personal number is larger, and Python refuses to write integers of more than 4300 digits."""
_MAX_TEXT_DEPTH: Final = 3
"""How many levels of JSON inside a string are read."""


@dataclass(frozen=True, slots=True)
class SensitiveValue:
    """One sensitive value as it is written in the JSON."""

    literal: str
    kind: str
    category: Category


def encode_json(value: object) -> bytes:
    """Write a JSON value as UTF-8. Half a surrogate pair, which JSON cannot hold, becomes "?"."""
    try:
        return to_json(value)
    except (PydanticSerializationError, ValueError, RecursionError):
        leaves = (f'"{name}":"{_scalar_text(leaf)}"' for name, leaf in iterate_leaves(value))
        return "\n".join(leaves).encode("utf-8", "replace")


def find_at_places(
    values: Iterable[tuple[str, object]], search: Search = find_sensitive
) -> Iterator[tuple[str, SensitiveValue]]:
    """Yield each sensitive value in several JSON values, with the place of its value.

    All names and scalars are searched as one text, each on a line of its own; what a place has twice is
    searched once.
    """
    lines = dict[tuple[str, str], None]()
    for place, value in _list_suspects(values) if search is find_sensitive else values:
        for name, text in _iterate_texts(value, 0):
            kind = name_kind(name)
            if kind is not None and is_credential(kind, text):
                yield place, SensitiveValue(text, kind, "credential")
            else:
                lines[place, f"{name}: {text}" if name else text] = None
    if lines:
        yield from _search_lines([*lines], search)


def _list_suspects(values: Iterable[tuple[str, object]]) -> Iterator[tuple[str, object]]:
    """Yield the parts of the values in whose JSON text a value may be found; to walk through one is slow."""
    for place, value in values:
        yield from ((place, part) for part in _split_value(value) if _is_suspect(part))


def _split_value(value: object) -> Iterator[object]:
    """Yield each item of the lists of an object, with the name of its list, and the rest of the object."""
    if not isinstance(value, Mapping) or "value" in value:
        yield value
        return
    for name, part in value.items():
        yield from ({name: item} for item in (part if isinstance(part, list) else [part]))


def _is_suspect(value: object) -> bool:
    try:
        return may_contain_sensitive(to_json(value).decode())
    except (PydanticSerializationError, ValueError, RecursionError):
        return True


def _search_lines(lines: Sequence[tuple[str, str]], search: Search) -> Iterator[tuple[str, SensitiveValue]]:
    joined = FIELD_SEPARATOR.join([line for _, line in lines])
    ends = [*accumulate(len(line) + len(FIELD_SEPARATOR) for _, line in lines)]
    for span in search(joined):
        first = bisect_right(ends, span.start)
        # A recogniser may return one span over several scalars.
        parts = joined[span.start : span.end].split(FIELD_SEPARATOR)
        for (place, _), part in zip(lines[first:], parts, strict=False):
            yield place, SensitiveValue(part.strip(), span.kind, span.category)


def _iterate_texts(value: object, depth: int) -> Iterator[tuple[str, str]]:
    """Yield name and text of every scalar, also inside strings that are themselves JSON."""
    for name, leaf in iterate_leaves(value):
        text = _scalar_text(leaf)
        if text:
            yield name, text
        if depth < _MAX_TEXT_DEPTH and text[:1] in {"{", "["}:
            yield from _iterate_texts(_parse_json(text), depth + 1)


def _parse_json(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def iterate_leaves(value: object) -> Iterator[tuple[str, object]]:
    """Yield the scalars, each after the nearest name above it, and the names themselves without one.

    A stack instead of recursion: the nesting may be deeper than Python's limit.
    """
    stack = [("", value)]
    while stack:
        name, leaf = stack.pop()
        if isinstance(leaf, str):
            yield name, leaf
        elif isinstance(leaf, Mapping):
            stack += _list_fields(name, leaf)[::-1]
        elif isinstance(leaf, list | tuple):
            stack += [(name, item) for item in reversed(leaf)]
        else:
            yield name, leaf


def _list_fields(above: str, fields: Mapping[object, object]) -> list[tuple[str, object]]:
    label = fields.get("name", fields.get("key"))
    listed: list[tuple[str, object]] = []
    for name, value in fields.items():
        if not isinstance(name, str) or len(name) > _HARMLESS_NAME_LENGTH or not name.isidentifier():
            listed.append(("", name))
        # In {"name": "API_KEY", "value": "..."} the label is the name of the value.
        nearest = (label if isinstance(label, str) else above) if name == "value" else str(name)
        listed.append((nearest[-_MAX_NAME_LENGTH:], value))
    return listed


def _scalar_text(value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) < _LARGEST_NUMBER:
        return str(value)
    return ""
