"""Finds credentials and personal data in a text."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, islice
from typing import Final

from evaluation.sensitive import contact, national_ids, payment
from evaluation.sensitive.credentials import assignments, secret_places, tokens
from evaluation.sensitive.detector import (
    FOREIGN_NAME_BYTES,
    LOOKALIKE_BYTES,
    Detector,
    EncodedText,
    Pattern,
    TooManyCandidatesError,
)
from evaluation.sensitive.disguised_text import DISGUISED_BYTES, read_plainly
from evaluation.sensitive.spans import MAX_VALUES, Span, merge_spans

_UNREADABLE: Final = rf"\\u|\\\\\\\"|{LOOKALIKE_BYTES}|{DISGUISED_BYTES}|{FOREIGN_NAME_BYTES}"
"""Matches what triggers cannot read in a JSON text: escaped letters, JSON inside a string, other scripts."""


class _Family:
    """Detectors whose triggers are tested in one pass, over a text or over its JSON."""

    def __init__(self, *detectors: Detector, in_json: str = "") -> None:
        triggers = "|".join(f"(?:{detector.trigger})" for detector in detectors)
        # JSON writes a line break as "\n": the letter in it would hide the start of the next word.
        escaped = triggers.replace(r"\b", r"(?:\b|\\[bfnrt])")
        self.any = Pattern(triggers)
        self.any_in_json = Pattern(f"{escaped}|{in_json}" if in_json else escaped)
        self._detectors = tuple((Pattern(detector.trigger), detector.find) for detector in detectors)

    def find_spans(self, subject: EncodedText) -> Iterator[Span]:
        if self.any.occurs_in(subject.data):
            for trigger, find in self._detectors:
                if trigger.occurs_in(subject.data):
                    yield from find(subject)


# Three automata: a single one would have more states than fit into its memory.
_FAMILIES: Final = (
    _Family(*tokens.DETECTORS, *payment.DETECTORS, *national_ids.DETECTORS, in_json=_UNREADABLE),
    _Family(*assignments.DETECTORS, *secret_places.DETECTORS),
    _Family(*contact.DETECTORS),
)


def find_sensitive(text: str) -> tuple[Span, ...]:
    """Find credentials and personal data in ``text``: spans that do not overlap, in the order of the text.

    The time is linear in the length of the text; a text without sensitive data costs less than 10 ns per
    character. The search stops after ``MAX_VALUES`` values or ``MAX_CANDIDATES`` candidates. Then everything
    except the credentials found so far is ``unsearched``.
    """
    spans = _search(text)
    if (plain := read_plainly(text)) is not None:
        spans = chain(spans, map(plain.locate, _search(plain.text)))
    return merge_spans(spans)


def _search(text: str) -> Iterator[Span]:
    subject = EncodedText(text)
    spans = (span for family in _FAMILIES for span in family.find_spans(subject))
    return _limit_spans(spans, len(text))


def _limit_spans(spans: Iterator[Span], length: int) -> Iterator[Span]:
    try:
        yield from islice(spans, MAX_VALUES)
        is_complete = next(spans, None) is None
    except TooManyCandidatesError:
        is_complete = False
    if not is_complete:
        yield Span(0, length, "unsearched", "unsearched")


def may_contain_sensitive(json_text: bytes) -> bool:
    """Return whether a string in a JSON text (UTF-8) may hold sensitive data. False is certain."""
    return any(family.any_in_json.occurs_in(json_text) for family in _FAMILIES)
