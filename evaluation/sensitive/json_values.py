r"""Finds sensitive data in JSON values: in every string, number and field name.

The field name counts: ``{"phone": 4155552671}`` is a telephone number because of its name, and
``"{\"pin\": 1234}"`` a PIN because of a name inside a string that is itself JSON.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import accumulate, islice
from typing import Final, NamedTuple

from pydantic_core import PydanticSerializationError, to_json

from evaluation.sensitive.credentials.assignments import is_credential
from evaluation.sensitive.credentials.secret_values import name_kind
from evaluation.sensitive.detector import Quota, TooManyCandidatesError
from evaluation.sensitive.scanner import FIELD_SEPARATOR, Search, find_sensitive, may_contain_sensitive
from evaluation.sensitive.spans import MAX_VALUES, Category

_MAX_NAME_LENGTH: Final = 100
_HARMLESS_NAME_LENGTH: Final = 15
"""An identifier up to this length is neither a token nor a person's number."""
_LARGEST_NUMBER: Final = 10**30
"""No personal number is larger, and Python refuses to write integers of more than 4300 digits."""
_MAX_TEXT_DEPTH: Final = 3
"""How many levels of JSON inside a string are read."""
MAX_SCALARS: Final = 1_000_000
"""Scalars that are searched. Each takes some microseconds."""
_COST: Final = 10
"""Scalars that a text counts for that looks like JSON, or has a telling name: both take more time."""


@dataclass(frozen=True, slots=True)
class SensitiveValue:
    """One sensitive value as it is written in the JSON."""

    literal: str
    kind: str
    category: Category


_UNSEARCHED: Final = ("", SensitiveValue("", "unsearched", "unsearched"))
"""Represents everything that was not searched."""


class _Leaf(NamedTuple):
    name: str
    value: object


def encode_json(value: object) -> bytes:
    """Write a JSON value as UTF-8. Half a surrogate pair, which JSON cannot hold, becomes "?"."""
    try:
        return to_json(value)
    except (PydanticSerializationError, ValueError, RecursionError):
        leaves = (f'"{leaf.name}":"{_scalar_text(leaf.value)}"' for leaf in iterate_leaves(value))
        return "\n".join(leaves).encode("utf-8", "replace")


def find_at_places(
    values: Iterable[tuple[str, object]], search: Search = find_sensitive
) -> Iterator[tuple[str, SensitiveValue]]:
    """Yield each sensitive value in several JSON values, as often as it occurs, with the place of its value.

    All names and scalars are searched as one text, each on a line of its own. If there are more than
    ``MAX_VALUES`` values, the last one is ``unsearched`` and represents the rest.
    """
    matches = _search_values(values, search)
    yield from islice(matches, MAX_VALUES)
    if next(matches, None) is not None:
        yield _UNSEARCHED


def _search_values(
    values: Iterable[tuple[str, object]], search: Search
) -> Iterator[tuple[str, SensitiveValue]]:
    quota, lines, places = Quota(MAX_SCALARS), list[str](), list[str]()
    try:
        for place, value in _list_suspects(values) if search is find_sensitive else values:
            for name, text in _iterate_texts(value, 0, quota):
                kind = name_kind(name)
                quota.use(1 if kind is None else _COST)
                if kind is not None and is_credential(kind, text):
                    yield place, SensitiveValue(text, kind, "credential")
                else:
                    lines.append(f"{name}: {text}" if name else text)
                    places.append(place)
    except TooManyCandidatesError:
        yield _UNSEARCHED
    if lines:
        yield from _search_lines(lines, places, search)


def _list_suspects(values: Iterable[tuple[str, object]]) -> Iterator[tuple[str, object]]:
    """Yield the parts of the values in whose JSON text a value may be found; to walk through one is slow."""
    for place, value in values:
        for part in _split_value(value):
            if _is_suspect(part):
                yield place, part


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


def _search_lines(
    lines: list[str], places: list[str], search: Search
) -> Iterator[tuple[str, SensitiveValue]]:
    joined = FIELD_SEPARATOR.join(lines)
    ends = [*accumulate(len(line) + len(FIELD_SEPARATOR) for line in lines)]
    for span in search(joined):
        if span.category == "unsearched":
            yield _UNSEARCHED
            continue
        first = bisect_right(ends, span.start)
        # A recogniser may return one span over several scalars.
        parts = joined[span.start : span.end].split(FIELD_SEPARATOR)
        for place, part in zip(places[first:], parts, strict=False):
            yield place, SensitiveValue(part.strip(), span.kind, span.category)


def _iterate_texts(value: object, depth: int, quota: Quota) -> Iterator[tuple[str, str]]:
    """Yield name and text of every scalar, also inside strings that are themselves JSON."""
    for leaf in iterate_leaves(value):
        text = _scalar_text(leaf.value)
        if text:
            yield leaf.name, text
        if depth < _MAX_TEXT_DEPTH and text[:1] in {"{", "["}:
            quota.use(_COST)
            yield from _iterate_texts(_parse_json(text), depth + 1, quota)


def _parse_json(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def iterate_leaves(value: object) -> Iterator[_Leaf]:
    """Yield the scalars, each with the nearest name above it, and the names themselves without one.

    A stack instead of recursion: the nesting may be deeper than Python's limit.
    """
    stack: list[_Leaf] = [_Leaf("", value)]
    while stack:
        leaf = stack.pop()
        if isinstance(leaf.value, Mapping):
            stack.extend(reversed([*_iterate_fields(leaf, leaf.value)]))
        elif isinstance(leaf.value, list | tuple):
            stack.extend(_Leaf(leaf.name, item) for item in reversed(leaf.value))
        else:
            yield leaf


def _iterate_fields(leaf: _Leaf, fields: Mapping[object, object]) -> Iterator[_Leaf]:
    label = fields.get("name", fields.get("key"))
    for name, value in fields.items():
        if not isinstance(name, str) or len(name) > _HARMLESS_NAME_LENGTH or not name.isidentifier():
            yield _Leaf("", name)
        # In {"name": "API_KEY", "value": "..."} the label is the name of the value.
        nearest = (label if isinstance(label, str) else leaf.name) if name == "value" else str(name)
        yield _Leaf(nearest[-_MAX_NAME_LENGTH:], value)


def _scalar_text(value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) < _LARGEST_NUMBER:
        return str(value)
    return ""
