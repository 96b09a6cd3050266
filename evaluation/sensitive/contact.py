"""Addresses of people and their machines: e-mail, telephone, IP, MAC."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator
from typing import Final

from evaluation.sensitive.patterns import (
    Detector,
    LabelPattern,
    Pattern,
    SearchedText,
    label_trigger,
    stands_alone,
)
from evaluation.sensitive.spans import Span

TRUNK_REGIONS: Final[tuple[str, ...]] = (
    *("DE", "GB", "FR", "AT", "CH", "IT", "NL", "BE"),
    *("SE", "AU", "JP", "TR", "ZA", "IN", "FI", "KR"),
)
"""Whose national numbers begin with 0."""
REGIONS: Final = (
    *TRUNK_REGIONS,
    *("US", "ES", "PL", "NO", "DK", "PT", "IE", "BR", "MX", "CN", "IL", "AR", "CZ", "GR"),
)
"""Whose national formats are known; an international number may be of any country."""
MAX_CHECKED: Final = 500
"""Numbers of one text that are checked, a millisecond each at worst; beyond, the form is enough."""


def is_possible_number(number: str, turn: int = 0) -> bool:
    """Say whether an international number has a country and a length that this country has.

    ``turn`` says how many numbers of this text came before.
    """
    if turn >= MAX_CHECKED:
        return True
    import phonenumbers  # noqa: PLC0415  a fifth of a second that a text without numbers does not wait for

    plain = number.lstrip(" (")
    try:
        parsed = phonenumbers.parse(plain if plain.startswith("+") else f"+{plain[2:]}", None)
    except phonenumbers.NumberParseException:
        return False
    return phonenumbers.is_possible_number(parsed)


def is_assigned_number(number: str, regions: tuple[str, ...], turn: int = 0) -> bool:
    """Say whether a national number is assigned in one of ``regions``."""
    return turn >= MAX_CHECKED or any(_assigned(number, region) for region in regions)


def _assigned(number: str, region: str) -> bool:
    import phonenumbers  # noqa: PLC0415  see possible

    try:
        return phonenumbers.is_valid_number(phonenumbers.parse(number, region))
    except phonenumbers.NumberParseException:
        return False


_LOCAL: Final = r"[A-Za-z0-9._%+'&/=~\x80-\xff?\-]"
_HOST: Final = r"[A-Za-z0-9\x80-\xff?\-]"
_EMAIL: Final = Pattern(
    rf"({_LOCAL}+@{_HOST}+(?:\.{_HOST}+)*\.(?:xn--[A-Za-z0-9\-]+|[A-Za-z\x80-\xff?]{{2,24}}))"
)
_FILES: Final = frozenset(
    {"png", "jpg", "jpeg", "gif", "svg", "webp", "js", "ts", "css", "json", "html", "py", "md", "txt"}
)

_WORDS: Final = (
    r"phone|mobile|\bcell\b|cell_|cellulare|cellular|\bfax|whatsapp|telefon|t.{1,2}l.{1,2}phone|tel.{1,2}fono|\btel\b|_tel\b"
    r"|handy|m.{1,2}vil|celular|telefoon|\bgsm\b|portable|puhelin|mobil|numara"
)
_LABELLED: Final = LabelPattern(_WORDS)
_NUMBER: Final = Pattern(r"\+?[ (]{0,2}[0-9](?:[ ()./\-]{0,3}[0-9]){6,14}")
_INTERNATIONAL: Final = Pattern(r"((?:\+|\b00)[ (]{0,2}[1-9](?:[ ()./\-]{0,3}[0-9]){6,14})")
_AMERICAN: Final = Pattern(
    r"(?:\b1[ .\-])?(?:\([2-9][0-9]{2}\) ?|[2-9][0-9]{2}[ .\-])[2-9][0-9]{2}[ .\-][0-9]{4}"
)
_TRUNK: Final = Pattern(r"\(?0[1-9][0-9]{0,4}\)?(?:[ ./\-]{1,3}[0-9]{2,8}){1,5}")
_DATE: Final = Pattern(
    r"(?:[0-9]{1,2}[./\-][0-9]{1,2}[./\-](?:19|20)[0-9]{2}|(?:19|20)[0-9]{2}[./\-][0-9]{1,2}[./\-][0-9]{1,2})\b"
)

_IPV4: Final = Pattern(r"[0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,3}")
_VERSION: Final = Pattern(
    r"(?i)(?:version|release|build|chapter|section|driver|firmware|rev|==|\bv)[\s.:=\"']*$"
)
_IPV6: Final = Pattern(r"[0-9A-Fa-f:]*:[0-9A-Fa-f:]*:[0-9A-Fa-f:.]*[0-9A-Fa-f:]")
_MAC: Final = Pattern(r"[0-9A-Fa-f]{2}(?:(?::[0-9A-Fa-f]{2}){5}|(?:-[0-9A-Fa-f]{2}){5})")
_LONGEST_IPV6: Final = 45


def _emails(subject: SearchedText) -> Iterator[Span]:
    for found, end in subject.find_spans(_EMAIL):
        start = found + len(subject.data[found:end]) - len(subject.data[found:end].lstrip(b"'/=&?.-%"))
        local, _, host = subject.decode(start, end).rpartition("@")
        if local and local != "git" and host.rpartition(".")[2].lower() not in _FILES:
            yield Span(start, end, "email", "personal")


def _phones(subject: SearchedText) -> Iterator[Span]:
    for start, end in _phone_places(subject):
        yield Span(start, end, "phone", "personal")


def _phone_places(subject: SearchedText) -> Iterator[tuple[int, int]]:
    data = subject.data
    for turn, (start, end) in enumerate(subject.find_spans(_INTERNATIONAL)):
        grouped = data[start : start + 1] == b"0" and data[max(0, start - 2) : start - 1].isdigit()
        if (
            not grouped
            and stands_alone(data, start, end)
            and is_possible_number(subject.decode(start, end), turn)
        ):
            yield start, end
    yield from (span for span in subject.find_spans(_AMERICAN) if stands_alone(data, *span))
    for turn, (start, end) in enumerate(subject.find_spans(_TRUNK)):
        if stands_alone(data, start, end) and is_assigned_number(
            subject.decode(start, end), TRUNK_REGIONS, turn
        ):
            yield start, end
    yield from _labelled_phones(subject)


def _labelled_phones(subject: SearchedText) -> Iterator[tuple[int, int]]:
    data = subject.data
    for turn, (_, place) in enumerate(_LABELLED.find_places(subject)):
        start = place - (data[place - 1 : place] == b"(")
        end = _NUMBER.match_end(data, start)
        if end > 0 and stands_alone(data, start, end) and _DATE.match_end(data, start) < 0:
            number = subject.decode(start, end)
            international = number.lstrip(" (").startswith("+")
            if (
                is_possible_number(number, turn)
                if international
                else is_assigned_number(number, REGIONS, turn)
            ):
                yield start, end


def _hosts(subject: SearchedText) -> Iterator[Span]:
    data = subject.data
    for start, end in subject.find_spans(_IPV4):
        if (
            stands_alone(data, start, end)
            and _public(subject.decode(start, end))
            and not _version(data, start, end)
        ):
            yield Span(start, end, "ip_address", "personal")
    for start, end in subject.find_spans(_IPV6):
        if (
            end - start <= _LONGEST_IPV6
            and stands_alone(data, start, end)
            and _public(subject.decode(start, end))
        ):
            yield Span(start, end, "ip_address", "personal")
    for start, end in subject.find_spans(_MAC):
        if stands_alone(data, start, end) and len({*subject.decode(start, end)}) > 2:  # noqa: PLR2004
            yield Span(start, end, "mac_address", "personal")


def _version(data: bytes, start: int, end: int) -> bool:
    """Tell ``version 1.2.3.4`` and ``chapter 3.1.4.1`` from an address."""
    return end - start == len("1.2.3.4") or _VERSION.occurs_in(data[max(0, start - 16) : start])


def _public(address: str) -> bool:
    """Say whether an address can be that of a person's line: public, no example, no local network."""
    try:
        return ipaddress.ip_address(address).is_global
    except ValueError:
        return False


DETECTORS: Final = (
    Detector(r"[^\s\"@]@[A-Za-z0-9\x80-\xff?]", _emails),
    Detector(
        r"\+[ (]{0,2}[1-9](?:[ ()./\-]{0,3}[0-9]){6}"
        r"|(?:^|[^0-9.,])00[1-9](?:[ ()./\-]{0,3}[0-9]){6}"
        r"|[2-9][0-9]{2}\)?[ .\-]{0,2}[2-9][0-9]{2}[ .\-][0-9]{4}"
        r"|(?:^|[^0-9.,:\-])\(?0[1-9](?:[ ()/.\-]{0,3}[0-9]){7}"
        rf"|{label_trigger(_WORDS)}",
        _phones,
    ),
    Detector(
        r"[0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,3}\.[0-9]"
        r"|::[0-9A-Fa-f]|(?:[0-9A-Fa-f]{1,4}:){3}[0-9A-Fa-f]{0,4}:|[0-9A-Fa-f]{2}-[0-9A-Fa-f]{2}-[0-9A-Fa-f]{2}-",
        _hosts,
    ),
)
