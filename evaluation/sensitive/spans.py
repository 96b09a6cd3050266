"""What a search for sensitive data gives, and the seam for a recogniser of one's own."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final, Literal, Protocol

Category = Literal["credential", "personal", "unsearched"]
"""What a stretch holds; ``unsearched`` may hold anything."""
MAX_VALUES: Final = 20_000
"""Values that one search gives; what lies beyond is not searched."""


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of a text that should not be shown: ``text[start:end]``."""

    start: int
    end: int
    kind: str
    """Such as ``github_token``, ``email``, ``us_ssn``."""
    category: Category


class Recognizer(Protocol):
    """A heavier search that a caller plugs in, such as one by Presidio, beside the built-in one."""

    def find(self, text: str) -> Iterable[Span]:
        """Give the sensitive stretches of ``text``, in any order; whatever this raises is reported."""
        ...


def unsearched_span(size: int) -> Span:
    """Cover a text of ``size`` characters that was not searched to its end."""
    return Span(0, size, "unsearched", "unsearched")


def merge_spans(found: Iterable[Span]) -> tuple[Span, ...]:
    """Join spans that overlap, in the order of the text; the kind is that of the first and longest.

    A credential goes before what is none, of which what lies outside is left; but behind a credential stands
    no rest of an e-mail address: in ``https://me:word@host.org`` there is none.
    """
    spans = sorted(found, key=lambda one: (one.start, -one.end))
    credentials = _joined(one for one in spans if one.category == "credential")
    personal = _joined(one for one in spans if one.category != "credential")
    if not credentials or not personal:
        return tuple(credentials or personal)
    outside = (part for one in personal for part in _outside(one, credentials))
    return tuple(sorted([*credentials, *outside], key=lambda one: one.start))


def _joined(spans: Iterable[Span]) -> list[Span]:
    joined: list[Span] = []
    for span in spans:
        last = joined[-1] if joined else None
        if last is not None and span.start < last.end:
            joined[-1] = replace(last, end=max(last.end, span.end))
        else:
            joined.append(span)
    return joined


def _outside(span: Span, credentials: list[Span]) -> Iterator[Span]:
    """Yield the parts of ``span`` that no credential covers."""
    start = span.start
    place = max(0, bisect_right(credentials, start, key=lambda one: one.start) - 1)
    for one in islice(credentials, place, None):
        if one.start >= span.end:
            break
        if start < one.start:
            yield replace(span, start=start, end=one.start)
        if one.end > start:
            start = span.end if span.kind == "email" else one.end
    if start < span.end:
        yield replace(span, start=start)
