"""Defines the results of a search for sensitive data, and the interface of a recogniser."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, Protocol

Category = Literal["credential", "personal"]


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
    """Merge overlapping spans and sort them; the first and longest gives the kind, or a credential's."""
    merged: list[Span] = []
    for span in sorted(spans, key=lambda span: (span.start, -span.end)):
        last = merged[-1] if merged else None
        if last is None or span.start >= last.end:
            merged.append(span)
            continue
        main = span if span.category == "credential" != last.category else last
        merged[-1] = Span(last.start, max(last.end, span.end), main.kind, main.category)
    return tuple(merged)


def replace_spans(text: str, spans: Iterable[Span]) -> str:
    """Replace each of the spans, which do not overlap, by ``[kind]``."""
    pieces, end = [], 0
    for span in spans:
        pieces += [text[end : span.start], f"[{span.kind}]"]
        end = span.end
    return "".join([*pieces, text[end:]]) if pieces else text
