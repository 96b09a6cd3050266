r"""Searching JSON values: every string, number and name in them, each with the name that it stands under.

``{"phone": 4155552671}`` is a telephone number by its name, ``"{\"pin\": 1234}"`` by a name within a text
that is itself JSON.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import accumulate, islice
from typing import Final

from pydantic_core import PydanticSerializationError, to_json

from evaluation.sensitive.assignments import is_credential, name_kind
from evaluation.sensitive.patterns import MAX_CANDIDATES, Quota, TooManyCandidatesError
from evaluation.sensitive.scanner import find_sensitive, may_contain_sensitive
from evaluation.sensitive.spans import MAX_VALUES, Category, Span

_LONGEST_NAME: Final = 100
_HARMLESS_NAME: Final = 15
"""An identifier of this length is neither a token nor anybody's number."""
_LONGEST_NUMBER: Final = 10**30
"""No number that anybody is known by is longer; Python refuses to write one of 4300 digits."""
_BETWEEN: Final = "\n\0\n"
"""What no pattern reaches across."""
_DEEPEST_TEXT: Final = 3
"""How often a text in JSON may again be JSON."""
MAX_SCALARS: Final = 1_000_000
"""Scalars that are searched; each takes some microseconds."""

Search = Callable[[str], tuple[Span, ...]]


@dataclass(frozen=True, slots=True)
class SensitiveValue:
    """One sensitive value as it was written, with what it is."""

    literal: str
    kind: str
    category: Category


_UNSEARCHED: Final = ("", SensitiveValue("", "unsearched", "unsearched"))
"""Stands for all that was not searched."""


@dataclass(frozen=True, slots=True)
class _Leaf:
    name: str
    value: object


def encode_json(value: object) -> bytes:
    """Write a JSON value as UTF-8; what no JSON text can hold (half a surrogate pair) is written as "?"."""
    try:
        return to_json(value)
    except (PydanticSerializationError, ValueError, RecursionError):
        return b"\n".join(_written(leaf) for leaf in _leaves(value))


def find_in_json(value: object, search: Search = find_sensitive) -> Iterator[SensitiveValue]:
    """Yield what is sensitive in a JSON value; the same as often as it stands there.

    One pass over the JSON text settles it for a value that holds nothing like it. Otherwise all names and
    scalars are searched as one text, each on lines of its own. Of more than ``MAX_VALUES`` values, the last
    one that is given is ``unsearched``, and stands for all that was not.
    """
    yield from (found for _, found in find_at_places([("", value)], search))


def find_at_places(
    values: Iterable[tuple[str, object]], search: Search = find_sensitive
) -> Iterator[tuple[str, SensitiveValue]]:
    """Yield what is sensitive in several JSON values, each found with the place that came with its value."""
    found = _found_at(values, search)
    yield from islice(found, MAX_VALUES)
    if next(found, None) is not None:
        yield _UNSEARCHED


def _found_at(values: Iterable[tuple[str, object]], search: Search) -> Iterator[tuple[str, SensitiveValue]]:
    texts: list[str] = []
    places: list[str] = []
    complete = True
    try:
        for place, name, text, kind in _named(values, search):
            if kind is not None and is_credential(kind, text):
                yield place, SensitiveValue(text, kind, "credential")
            else:
                texts.append(f"{name}: {text}" if name else text)
                places.append(place)
    except TooManyCandidatesError:
        complete = False
    yield from _searched(texts, places, search)
    yield from () if complete else [_UNSEARCHED]


def _named(
    values: Iterable[tuple[str, object]], search: Search
) -> Iterator[tuple[str, str, str, str | None]]:
    """Yield place, name and text of every scalar, with what stands under such a name.

    Raises:
        TooManyError: There are too many scalars, too many names, or too many under a telling name.
    """
    leaves, looks = Quota(MAX_SCALARS), Quota(MAX_CANDIDATES)

    @cache
    def kind_of(name: str) -> str | None:
        looks.use_one()
        return name_kind(name)

    for place, value in values:
        if search is find_sensitive and not may_contain_sensitive(encode_json(value)):
            continue
        for name, text in _texts(value, 0, looks):
            leaves.use_one()
            kind = kind_of(name)
            if kind is not None:
                looks.use_one()
            yield place, name, text, kind


def _searched(texts: list[str], places: list[str], search: Search) -> Iterator[tuple[str, SensitiveValue]]:
    text = _BETWEEN.join(texts)
    ends = [*accumulate(len(one) + len(_BETWEEN) for one in texts)]
    for span in search(text):
        if span.category == "unsearched":
            yield _UNSEARCHED
            continue
        first = bisect_right(ends, span.start)
        for place, part in zip(places[first:], text[span.start : span.end].split(_BETWEEN), strict=False):
            yield place, SensitiveValue(part.strip(), span.kind, span.category)


def _texts(value: object, depth: int, looks: Quota) -> Iterator[tuple[str, str]]:
    """Yield every scalar as text, with its name; and those of a text that is itself JSON."""
    for leaf in _leaves(value):
        text = _text(leaf.value)
        if text:
            yield leaf.name, text
        if depth < _DEEPEST_TEXT and text[:1] in {"{", "["}:
            looks.use_one()
            if may_contain_sensitive(text.encode("utf-8", "replace")):
                yield from _texts(_read(text), depth + 1, looks)


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
