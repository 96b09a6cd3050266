"""Defines the results of a search for sensitive data, and the interface of a recogniser."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final, Literal, Protocol

Category = Literal["credential", "personal", "unsearched"]
"""The category of a span; an ``unsearched`` one may hold anything."""
MAX_VALUES: Final = 20_000
"""Values that one search returns; it does not search the rest."""


@dataclass(frozen=True, slots=True)
class Span:
    """A part of a text that must not be shown: ``text[start:end]``."""

    start: int
    end: int
    kind: str
    """For example ``github_token``, ``email``, ``us_ssn``."""
    category: Category


class Recognizer(Protocol):
    """An additional search that a caller plugs in, for example one by Presidio."""

    def find(self, text: str) -> Iterable[Span]:
        """Return the sensitive spans of ``text``, in any order. An exception becomes a finding."""
        ...


def merge_spans(spans: Iterable[Span]) -> tuple[Span, ...]:
    """Merge overlapping spans and sort them; the kind is the one of the first and longest.

    Credentials take precedence: a personal span keeps only its parts outside them. An e-mail address keeps
    no part behind a credential: in ``https://me:word@host.org`` there is none.
    """
    ordered = sorted(spans, key=lambda span: (span.start, -span.end))
    credentials = _merge_overlaps(span for span in ordered if span.category == "credential")
    personal = _merge_overlaps(span for span in ordered if span.category != "credential")
    if not credentials or not personal:
        return tuple(credentials or personal)
    outside = (part for span in personal for part in _parts_outside(span, credentials))
    return tuple(sorted([*credentials, *outside], key=lambda span: span.start))


def _merge_overlaps(spans: Iterable[Span]) -> list[Span]:
    merged: list[Span] = []
    for span in spans:
        last = merged[-1] if merged else None
        if last is not None and span.start < last.end:
            merged[-1] = replace(last, end=max(last.end, span.end))
        else:
            merged.append(span)
    return merged


def _parts_outside(span: Span, credentials: list[Span]) -> Iterator[Span]:
    """Yield the parts of ``span`` that no credential covers."""
    start = span.start
    # The credential before the start may reach into the span.
    first = max(0, bisect_right(credentials, start, key=lambda credential: credential.start) - 1)
    for credential in islice(credentials, first, None):
        if credential.start >= span.end:
            break
        if start < credential.start:
            yield replace(span, start=start, end=credential.start)
        if credential.end > start:
            start = span.end if span.kind == "email" else credential.end
    if start < span.end:
        yield replace(span, start=start)
