"""Finds payment cards (ISO/IEC 7812), their codes, and bank accounts (IBAN, ISO 13616)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from typing import Final, cast

from evaluation.sensitive.detector import (
    Detector,
    EncodedText,
    Pattern,
    Quota,
    find_labelled,
    label_pattern,
    label_trigger,
    stands_alone,
)
from evaluation.sensitive.spans import Span

_COST: Final = 5
"""Candidates of a text that one check counts for. It takes about 50 µs."""


def has_valid_checksum(module: str, number: bytes, quota: Quota) -> bool:
    """Return whether ``module`` of python-stdnum accepts a number; with no module, any number is valid.

    Raises:
        TooManyCandidatesError: The text has too many numbers to check.
    """
    quota.use(_COST)
    return not module or _load_check(module)(number.decode("latin-1"))


@cache
def _load_check(module: str) -> Callable[[str], bool]:
    # Imported on demand: a module's tables take up to a tenth of a second to load.
    return cast("Callable[[str], bool]", import_module(f"stdnum.{module}").is_valid)


_CARD: Final = Pattern(
    r"[0-9]{4}[ \-]?[0-9]{4}[ \-]?[0-9]{4}[ \-]?[0-9]{1,7}"
    r"|3[0-9]{3}[ \-]?[0-9]{6}[ \-]?[0-9]{4,5}|[0-9]{13,19}"
)
_ISSUERS: Final = Pattern(
    r"(?:4(?:[0-9]{12}|[0-9]{15}|[0-9]{18})"  # Visa
    r"|(?:5[1-5][0-9]{2}|222[1-9]|22[3-9][0-9]|2[3-6][0-9]{2}|27[01][0-9]|2720)[0-9]{12}"  # Mastercard
    r"|3[47][0-9]{13}"  # American Express
    r"|3(?:0[0-5]|[689][0-9])[0-9]{11}(?:[0-9]{2})?"  # Diners Club
    r"|6(?:011|5[0-9]{2}|4[4-9][0-9])[0-9]{12}(?:[0-9]{3})?"  # Discover
    r"|35(?:2[89]|[3-8][0-9])[0-9]{12}"  # JCB
    r"|62[0-9]{14,17}"  # UnionPay
    r"|220[0-4][0-9]{12}|9792[0-9]{12}|60(?:69|75|80|81|82)[0-9]{12}"  # Mir, Troy, RuPay
    r"|(?:50[0-9]{2}|5[6-9][0-9]{2}|6[37][0-9]{2})[0-9]{12})$"  # Maestro of 16 digits
)
_IBAN: Final = Pattern(r"[A-Za-z]{2}[0-9]{2}(?:[ \-]?[A-Za-z0-9]{1,4}){3,9}")
_SHORTEST_IBAN: Final = 15
_LONGEST_IBAN: Final = 34
_CODE_WORDS: Final = (
    r"\bcvv2?\b|\bcvc2?\b|\bcvn\b|security code|card_verification|card verification|_cvv|_cvc"
)
_PIN_WORDS: Final = r"\bpin\b|_pin\b"
_CODES: Final = (
    ("card_security_code", label_pattern(_CODE_WORDS), Pattern("[0-9]{3,4}")),
    ("pin", label_pattern(_PIN_WORDS), Pattern("[0-9]{4}")),
)


def _find_cards(subject: EncodedText) -> Iterator[Span]:
    data = subject.data
    for start, end in subject.find_spans(_CARD):
        digits = data[start:end].translate(None, b" -")
        has_issuer = stands_alone(data, start, end) and _ISSUERS.match_end(digits, 0) >= 0
        if has_issuer and has_valid_checksum("luhn", digits, subject.quota):
            yield Span(start, end, "payment_card", "personal")


def _find_codes(subject: EncodedText) -> Iterator[Span]:
    for kind, label, code in _CODES:
        for start, end in find_labelled(subject, label, code):
            yield Span(start, end, kind, "credential")


def _find_accounts(subject: EncodedText) -> Iterator[Span]:
    data = subject.data
    for start, end in subject.find_spans(_IBAN):
        if not data[max(0, start - 1) : start].isalnum():
            subject.quota.use(_COST)
            length = _account_length(subject.decode(start, end))
            if length and not data[start + length : start + length + 1].isalnum():
                yield Span(start, start + length, "iban", "personal")


def _account_length(text: str) -> int:
    """Return how much of ``text`` is a valid IBAN, or 0. The bank itself need not exist."""
    from stdnum import iban  # noqa: PLC0415  its import takes a tenth of a second, and few texts need it

    ends = [place + 1 for place, character in enumerate(text) if character.isalnum()]
    compact = "".join(character for character in text.upper() if character.isalnum())
    # A word behind a number in groups looks like another group, so try shorter numbers too.
    for size in range(min(len(compact), _LONGEST_IBAN), _SHORTEST_IBAN - 1, -1):
        if iban.is_valid(compact[:size], check_country=False):
            return ends[size - 1]
    return 0


DETECTORS: Final = (
    Detector(r"(?:^|[^0-9A-Za-z.\-]|\\[nrt])[0-9](?:[ \-]?[0-9]){12}", _find_cards),
    Detector(label_trigger(f"{_CODE_WORDS}|{_PIN_WORDS}", "[0-9]{3}"), _find_codes),
    Detector(r"[A-Z]{2}[0-9]{2}(?:[ \-]?[A-Z0-9]{4}){2}|(?i:iban)|[a-z]{2}[0-9]{12}", _find_accounts),
)
