"""The one search for credentials and personal data."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Final

from evaluation.sensitive import assignments, contact, national_ids, payment, secrets
from evaluation.sensitive.patterns import (
    LOOKALIKE_BYTES,
    Detector,
    Pattern,
    SearchedText,
    TooManyCandidatesError,
)
from evaluation.sensitive.spans import MAX_VALUES, Span, merge_spans, unsearched_span

_UNREADABLE: Final = rf"\\u(?i:00[2-9a-f]|0[1-9a-f]|[1-9a-f])|\\\\\\\"|{LOOKALIKE_BYTES}"
"""What the triggers cannot read in a JSON text: letters as numbers, JSON in a text in JSON, lookalikes."""


class _Family:
    """Detectors that are looked for in one pass, in a text or in its JSON."""

    def __init__(self, *detectors: Detector, in_json: str = "") -> None:
        triggers = "|".join(f"(?:{one.trigger})" for one in detectors)
        escaped = triggers.replace(r"\b", r"(?:\b|\\[bfnrt])")
        self.any = Pattern(triggers)
        self.any_in_json = Pattern(f"{escaped}|{in_json}" if in_json else escaped)
        self._detectors = tuple((Pattern(one.trigger), one.find) for one in detectors)

    def find_spans(self, subject: SearchedText) -> Iterator[Span]:
        if self.any.occurs_in(subject.data):
            for trigger, search in self._detectors:
                if trigger.occurs_in(subject.data):
                    yield from search(subject)


_FAMILIES: Final = (
    _Family(*secrets.DETECTORS, *payment.DETECTORS, *national_ids.DETECTORS, in_json=_UNREADABLE),
    _Family(*assignments.DETECTORS),
    _Family(*contact.DETECTORS),
)
"""Searched one after the other: one automaton for all has more states than are ever built."""


def find_sensitive(text: str) -> tuple[Span, ...]:
    """Find credentials and personal data in ``text``: spans that do not overlap, in the order of the text.

    Linear in the length of the text; a text without anything like it costs less than 10 ns a character. A
    text with more than ``MAX_VALUES`` values or ``MAX_CANDIDATES`` places that look like one is not searched
    to its end: all of it that is no credential found by then is ``unsearched``.
    """
    subject = SearchedText(text)
    return merge_spans(_bounded(subject, (span for one in _FAMILIES for span in one.find_spans(subject))))


def _bounded(subject: SearchedText, spans: Iterator[Span]) -> Iterator[Span]:
    try:
        yield from islice(spans, MAX_VALUES)
        whole = next(spans, None) is None
    except TooManyCandidatesError:
        whole = False
    if not whole:
        yield unsearched_span(len(subject.text))


def may_contain_sensitive(json_text: bytes) -> bool:
    """Say whether any string in a JSON text (UTF-8) may hold something sensitive; False is certain."""
    return any(family.any_in_json.occurs_in(json_text) for family in _FAMILIES)
