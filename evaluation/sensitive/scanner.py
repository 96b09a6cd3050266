"""Finds credentials and personal data in a text, and redacts and shortens what a report or an error quotes.

No other place of the package shortens a text from outside: half of a credential is no longer recognised, so
a text is redacted before it is cut.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import accumulate
from typing import Final

from pydantic_core import to_json

from agents.credentials.detector import (
    Category,
    Family,
    Pattern,
    Recognizer,
    Span,
    encode_text,
    merge_spans,
    replace_spans,
    search_text,
)
from agents.credentials.masking import PLACES, TOKEN_DETECTORS, mask_error
from agents.credentials.secret_places import FIELD_TRIGGER, is_credential, name_kind
from evaluation.sensitive import personal_data

FIELD_SEPARATOR: Final = "\n\0\n"
"""No pattern matches across it. It stands between the fields of a run."""
_LONGEST_WORD: Final = 12
"""A single word of so many letters is neither a token nor a value with its name."""


Search = Callable[[str], tuple[Span, ...]]
_UNREADABLE: Final = rf"\\u|\\\\\\\"|{FIELD_TRIGGER}"
"""Matches what triggers cannot read in a JSON text: escaped letters, JSON in a string, some names."""


# Four automata: the states of a single one are the product of theirs, and to build them takes longest.
_FAMILIES: Final = (
    Family(*TOKEN_DETECTORS, *personal_data.DETECTORS),
    Family(*personal_data.PERSON_DETECTORS),
    PLACES,
    Family(*personal_data.CONTACT_DETECTORS),
)

_SUSPECT: Final = (
    Pattern(f"{_UNREADABLE}|{_FAMILIES[0].source}"),
    *(family.any for family in _FAMILIES[1:]),
)
EVERY_SEARCH: Final = range(len(_SUSPECT))
"""The numbers of all searches."""


def find_sensitive(text: str) -> tuple[Span, ...]:
    """Find credentials and personal data in ``text``: spans that do not overlap, in the order of the text.

    The time is linear in the length of the text; a text without sensitive data costs less than 10 ns per
    character.
    """
    if len(text) <= _LONGEST_WORD and text.isascii() and text.isalpha():
        return ()
    return _find_in_short(text) if len(text) <= _SHORT else _find_spans(text)


def list_suspects(json_text: str) -> list[int]:
    """Return the searches that may find sensitive data in a JSON text. An empty list is certain."""
    data = encode_text(json_text)
    found = [place for place, pattern in enumerate(_SUSPECT) if pattern.occurs_in(data)]
    # The first one matches in JSON within a string, in which the others may miss a value.
    return [*EVERY_SEARCH] if 0 in found else found


def _find_spans(text: str) -> tuple[Span, ...]:
    return merge_spans(search_text(text, _FAMILIES))


# Names, short values and reasons recur in a run, in its report, and from run to run.
_SHORT: Final = 200
_find_in_short: Final = lru_cache(1024)(_find_spans)


def build_search(recognizers: Sequence[Recognizer], failures: dict[str, str]) -> Search:
    """Combine the built-in search with the recognisers that a caller plugs in.

    If a recogniser fails, ``failures`` gets the type of its error under the name of the recogniser's type.
    """
    if not recognizers:
        return find_sensitive

    def search(text: str) -> tuple[Span, ...]:
        spans = (span for recognizer in recognizers for span in _ask_recognizer(recognizer, text, failures))
        return merge_spans([*find_sensitive(text), *spans])

    return search


def _ask_recognizer(recognizer: Recognizer, text: str, failures: dict[str, str]) -> list[Span]:
    try:
        return [_check_span(span, text) for span in recognizer.find(text)]
    except (Exception, SystemExit) as error:  # noqa: BLE001  foreign code may raise anything; its message may quote the text
        failures[type(recognizer).__name__] = type(error).__name__
        return []


def _check_span(span: object, text: str) -> Span:
    if not isinstance(span, Span):
        raise TypeError("a recogniser has to return Span objects")
    if not 0 <= span.start < span.end <= len(text):
        raise ValueError("a span has to lie within its text")
    return span


_MARGIN: Final = 4096
"""Characters beyond the limit that are searched too, to recognise a value that the limit cuts."""
LONGEST_NAME: Final = 60
"""Characters of a name (of a tool, a field, a rule) that a sentence shows."""
_LONGEST_ERROR: Final = 300


def redact(text: str, search: Search = find_sensitive) -> str:
    """Replace every credential and all personal data in ``text`` by ``[kind]``."""
    return replace_spans(text, search(text))


def tell_apart(said: str, seen: str) -> str:
    """Write ``[another kind]`` in what was seen for a value that ``redact`` would show like one before it."""
    both = f"{said}{FIELD_SEPARATOR}{seen}"
    spans = find_sensitive(both)
    first = {span.kind: both[span.start : span.end] for span in reversed(spans)}
    others = (span for span in spans if both[span.start : span.end] != first[span.kind])
    named = [replace(span, kind=f"another {span.kind}") for span in others if span.start > len(said)]
    return replace_spans(both, named).removeprefix(f"{said}{FIELD_SEPARATOR}")


def shorten(text: str, limit: int = LONGEST_NAME) -> str:
    """Return a text of at most ``limit`` characters: as it is, or redacted, cut, and with "…" at its end."""
    if len(text) <= limit:
        return text
    head = redact(text[: limit + _MARGIN])
    is_complete = len(head) <= limit and len(text) <= limit + _MARGIN
    return head if is_complete else f"{head[: limit - 1]}…"


def keep_end(text: str, limit: int) -> str:
    """Return the last ``limit`` characters of a text, redacted; "…" at the start stands for the rest."""
    tail = redact(text[-(limit + _MARGIN) :])
    return tail if len(tail) <= limit and len(text) <= limit + _MARGIN else f"…{tail[1 - limit :]}"


def describe_error(error: BaseException) -> str:
    """Return the text of an exception of someone else's code: one line, redacted and shortened."""
    return shorten(redact(" ".join(mask_error(error)[:_MARGIN].split())), _LONGEST_ERROR)


def describe_raised(error: BaseException) -> str:
    """Return the type and the text of what someone else's code raised: any exception but Ctrl-C.

    Raises:
        KeyboardInterrupt: The error is one: Ctrl-C ends the program in any code.
    """
    if isinstance(error, KeyboardInterrupt):
        raise error
    return f"{type(error).__name__}: {describe_error(error)}".removesuffix(": ")


def quote_text(text: str, limit: int = LONGEST_NAME) -> str:
    """Quote a shortened text on one line."""
    return json.dumps(shorten(text, limit), ensure_ascii=False)


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
    except (ValueError, RecursionError):
        leaves = (f'"{name}":"{_scalar_text(leaf)}"' for name, leaf in iterate_leaves(value))
        return "\n".join(leaves).encode("utf-8", "replace")


def find_at_places(
    values: Iterable[tuple[str, object]],
    search: Search = find_sensitive,
    suspects: Iterable[int] = EVERY_SEARCH,
) -> Iterator[tuple[str, SensitiveValue]]:
    """Yield each sensitive value in several JSON values, with the place of its value.

    All names and scalars are searched as one text, each on a line of its own; what a place has twice is
    searched once. ``suspects`` are those of a text that has all values.
    """
    quick = [_SUSPECT[place] for place in suspects]
    lines = dict[tuple[str, str], None]()
    for place, value in values:
        # Most values have nothing, and to walk through one is slow.
        if search is find_sensitive and not _is_suspect(value, quick):
            continue
        for name, text in _iterate_texts(value, 0):
            kind = name_kind(name)
            if kind is not None and is_credential(kind, text):
                yield place, SensitiveValue(text, kind, "credential")
            else:
                lines[place, f"{name}: {text}" if name else text] = None
    if lines:
        yield from _search_lines([*lines], search)


def _is_suspect(value: object, quick: Sequence[Pattern]) -> bool:
    """Return whether a quick test matches in a value, or the value cannot be written as JSON."""
    try:
        written = to_json(value)
        data = written if written.isascii() else encode_text(written.decode())
        return any(pattern.occurs_in(data) for pattern in quick)
    except (ValueError, RecursionError):
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
