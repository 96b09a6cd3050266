"""The one search for credentials and personal data."""

from __future__ import annotations

from typing import Final

from evaluation.sensitive import assignments, contact, national, payment, tokens
from evaluation.sensitive.linear import LOOKALIKE_BYTES, Pattern, Subject
from evaluation.sensitive.spans import Span, without_overlaps

_DETECTORS: Final = (
    *((Pattern(one.trigger), one.find) for one in tokens.DETECTORS),
    *((Pattern(one.trigger), one.find) for one in assignments.DETECTORS),
    *((Pattern(one.trigger), one.find) for one in payment.DETECTORS),
    *((Pattern(one.trigger), one.find) for one in national.DETECTORS),
    *((Pattern(one.trigger), one.find) for one in contact.DETECTORS),
)
_ALL: Final = "|".join(
    f"(?:{one.trigger})"
    for module in (tokens, assignments, payment, national, contact)
    for one in module.DETECTORS
)
_ANY: Final = Pattern(_ALL)
_ESCAPED: Final = _ALL.replace(r"\b", r"(?:\b|\\[bfnrt])")
_ANY_IN_JSON: Final = Pattern(rf"{_ESCAPED}|\\u00[2-7]|{LOOKALIKE_BYTES}")


def find(text: str) -> tuple[Span, ...]:
    """Find credentials and personal data in ``text``: spans that do not overlap, in the order of the text.

    Linear in the length of the text; a text without anything like it costs about 2 ns a character.
    """
    subject = Subject(text)
    if not _ANY.occurs(subject.data):
        return ()
    return without_overlaps(
        span for trigger, search in _DETECTORS if trigger.occurs(subject.data) for span in search(subject)
    )


def may_hold(json_text: bytes) -> bool:
    """Say whether any string in a JSON text (UTF-8) may hold something sensitive; False is certain."""
    return _ANY_IN_JSON.occurs(json_text)
