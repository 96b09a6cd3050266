"""The one search for credentials and personal data."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Final

from evaluation.sensitive import assignments, contact, payment
from evaluation.sensitive import national_ids as national
from evaluation.sensitive import secrets as tokens
from evaluation.sensitive.patterns import LOOKALIKE_BYTES, Detector, Pattern, Subject, TooManyError
from evaluation.sensitive.spans import MOST_FOUND, Span, unsearched, without_overlaps

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

    def spans(self, subject: Subject) -> Iterator[Span]:
        if self.any.occurs(subject.data):
            for trigger, search in self._detectors:
                if trigger.occurs(subject.data):
                    yield from search(subject)


_FAMILIES: Final = (
    _Family(*tokens.DETECTORS, *payment.DETECTORS, *national.DETECTORS, in_json=_UNREADABLE),
    _Family(*assignments.DETECTORS),
    _Family(*contact.DETECTORS),
)
"""Searched one after the other: one automaton for all has more states than are ever built."""


def find(text: str) -> tuple[Span, ...]:
    """Find credentials and personal data in ``text``: spans that do not overlap, in the order of the text.

    Linear in the length of the text; a text without anything like it costs less than 10 ns a character. A
    text with more than ``MOST_FOUND`` values or ``MOST_CANDIDATES`` places that look like one is not searched
    to its end: all of it that is no credential found by then is ``unsearched``.
    """
    subject = Subject(text)
    return without_overlaps(_bounded(subject, (span for one in _FAMILIES for span in one.spans(subject))))


def _bounded(subject: Subject, spans: Iterator[Span]) -> Iterator[Span]:
    try:
        yield from islice(spans, MOST_FOUND)
        whole = next(spans, None) is None
    except TooManyError:
        whole = False
    if not whole:
        yield unsearched(len(subject.text))


def may_hold(json_text: bytes) -> bool:
    """Say whether any string in a JSON text (UTF-8) may hold something sensitive; False is certain."""
    return any(family.any_in_json.occurs(json_text) for family in _FAMILIES)
