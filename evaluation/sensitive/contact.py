"""Finds e-mail addresses, telephone numbers, and IP and MAC addresses."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator
from contextlib import suppress
from itertools import chain
from typing import Final

from evaluation.sensitive.detector import (
    Detector,
    EncodedText,
    Pattern,
    find_labelled,
    label_pattern,
    label_trigger,
    stands_alone,
)
from evaluation.sensitive.spans import Span

_TRUNK_REGIONS: Final[tuple[str, ...]] = (
    *("DE", "GB", "FR", "AT", "CH", "IT", "NL", "BE"),
    *("SE", "AU", "JP", "TR", "ZA", "IN", "FI", "KR"),
)
"""Regions whose national numbers begin with 0."""
_REGIONS: Final = (
    *_TRUNK_REGIONS,
    *("US", "ES", "PL", "NO", "DK", "PT", "IE", "BR", "MX", "CN", "IL", "AR", "CZ", "GR"),
)
"""Regions whose national numbers are recognised. International numbers are recognised for all regions."""
_COST: Final = 20
"""Candidates of a text that the check of one telephone number counts for. It takes up to a millisecond."""

_LOCAL: Final = r"[A-Za-z0-9._%+'&/=~\x80-\xff?\-]"
_HOST: Final = r"[A-Za-z0-9\x80-\xff?\-]"
_EMAIL: Final = Pattern(
    rf"({_LOCAL}+@{_HOST}+(?:\.{_HOST}+)*\.(?:xn--[A-Za-z0-9\-]+|[A-Za-z\x80-\xff?]{{2,24}}))"
)
_LOGIN_OF_URL: Final = Pattern(r"://(?:[^\s/@]*:)?$")
_FILE_ENDINGS: Final = frozenset(
    {"png", "jpg", "jpeg", "gif", "svg", "webp", "js", "ts", "css", "json", "html", "py", "md", "txt"}
)

_PHONE_WORDS: Final = (
    r"phone|mobile|\bcell\b|cell_|cellulare|cellular|\bfax|whatsapp|telefon|t.{1,2}l.{1,2}phone|tel.{1,2}fono|\btel\b|_tel\b"
    r"|handy|m.{1,2}vil|celular|telefoon|\bgsm\b|portable|puhelin|mobil|numara"
)
_PHONE_LABEL: Final = label_pattern(_PHONE_WORDS)
_LABELLED_NUMBER: Final = Pattern(r"\+?[ (]{0,2}[0-9](?:[ ()./\-]{0,3}[0-9]){6,14}")
# "00" continues a number in groups of digits, as in "12 001 234", unless no digit stands before it.
_INTERNATIONAL: Final = Pattern(
    r"(\+[ (]{0,2}[1-9](?:[ ()./\-]{0,3}[0-9]){6,14})"
    r"|(?:^|[^0-9A-Za-z ]|(?:^|[^0-9]) )(00[ (]{0,2}[1-9](?:[ ()./\-]{0,3}[0-9]){6,14})"
)
_AMERICAN: Final = Pattern(
    r"(?:\b1[ .\-])?(?:\([2-9][0-9]{2}\) ?|[2-9][0-9]{2}[ .\-])[2-9][0-9]{2}[ .\-][0-9]{4}"
)
_TRUNK: Final = Pattern(r"\(?0[1-9][0-9]{0,4}\)?(?:[ ./\-]{1,3}[0-9]{2,8}){1,5}")
# Without a label, only numbers with a leading 0, and American ones: others look like any digits.
_FORMS: Final = ((_INTERNATIONAL, ()), (_AMERICAN, ("US",)), (_TRUNK, _TRUNK_REGIONS))

_IPV4: Final = Pattern(r"[0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,3}")
_IPV6: Final = Pattern(r"[0-9A-Fa-f:]*:[0-9A-Fa-f:]*:[0-9A-Fa-f:.]*[0-9A-Fa-f:]")
_MAC: Final = Pattern(r"[0-9A-Fa-f]{2}(?:(?::[0-9A-Fa-f]{2}){5}|(?:-[0-9A-Fa-f]{2}){5})")
_LONGEST_IPV6: Final = 45
_LONGEST_LOGIN: Final = 100


def _find_emails(subject: EncodedText) -> Iterator[Span]:
    for place, end in subject.find_spans(_EMAIL):
        address = subject.decode(place, end).lstrip("'/=&?.-%")
        local, _, host = address.rpartition("@")
        start = end - len(address)
        # "git@github.com:org/repo", "icon@2x.png" and "https://me:word@host.org" only look like addresses.
        is_file = host.rpartition(".")[2].lower() in _FILE_ENDINGS
        is_login = _LOGIN_OF_URL.occurs_in(subject.data[max(0, start - _LONGEST_LOGIN) : start])
        if local and local != "git" and not (is_file or is_login):
            yield Span(start, end, "email", "personal")


def _find_phones(subject: EncodedText) -> Iterator[Span]:
    written = ((place, regions) for form, regions in _FORMS for place in subject.find_spans(form))
    labelled = ((place, _REGIONS) for place in find_labelled(subject, _PHONE_LABEL, _LABELLED_NUMBER))
    for (start, end), regions in chain(written, labelled):
        if stands_alone(subject.data, start, end):
            subject.quota.use(_COST)
            if _is_phone_number(subject.decode(start, end), regions):
                # A bracket before the number may have counted to the label.
                yield Span(start - (subject.data[start - 1 : start] == b"("), end, "phone", "personal")


def _is_phone_number(number: str, regions: tuple[str, ...]) -> bool:
    """Return whether a number has the length of its country, or is assigned in one of ``regions``."""
    import phonenumbers  # noqa: PLC0415  its import takes a fifth of a second, and few texts need it

    plain = number.lstrip(" (")
    plain = f"+{plain[2:]}" if plain.startswith("00") else plain
    is_international = plain.startswith("+")
    is_valid = phonenumbers.is_possible_number if is_international else phonenumbers.is_valid_number
    for region in (None,) if is_international else regions:
        with suppress(phonenumbers.NumberParseException):
            if is_valid(phonenumbers.parse(plain, region)):
                return True
    return False


def _find_addresses(subject: EncodedText) -> Iterator[Span]:
    data = subject.data
    for start, end in chain(subject.find_spans(_IPV4), subject.find_spans(_IPV6)):
        # "1.2.3.4" is a version or a chapter.
        is_address = len("1.2.3.4") < end - start <= _LONGEST_IPV6 and stands_alone(data, start, end)
        if is_address and _is_public(subject.decode(start, end)):
            yield Span(start, end, "ip_address", "personal")
    for start, end in subject.find_spans(_MAC):
        # Two different characters only, as in "00:00:00:00:00:00": a placeholder.
        if stands_alone(data, start, end) and len({*subject.decode(start, end)}) > 2:  # noqa: PLR2004
            yield Span(start, end, "mac_address", "personal")


def _is_public(address: str) -> bool:
    """Return whether an address can belong to a person's line: no example, no local network."""
    try:
        return ipaddress.ip_address(address).is_global
    except ValueError:
        return False


DETECTORS: Final = (
    Detector(r"[^\s\"@]@[A-Za-z0-9\x80-\xff?]", _find_emails),
    Detector(
        r"\+[ (]{0,2}[1-9](?:[ ()./\-]{0,3}[0-9]){6}"
        r"|(?:^|[^0-9.,])00[1-9](?:[ ()./\-]{0,3}[0-9]){6}"
        r"|[2-9][0-9]{2}\)?[ .\-]{0,2}[2-9][0-9]{2}[ .\-][0-9]{4}"
        r"|(?:^|[^0-9.,:\-])\(?0[1-9](?:[ ()/.\-]{0,3}[0-9]){7}"
        rf"|{label_trigger(_PHONE_WORDS)}",
        _find_phones,
    ),
    Detector(
        r"[0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,3}\.[0-9]"
        r"|::[0-9A-Fa-f]|(?:[0-9A-Fa-f]{1,4}:){3}[0-9A-Fa-f]{0,4}:|[0-9A-Fa-f]{2}-[0-9A-Fa-f]{2}-[0-9A-Fa-f]{2}-",
        _find_addresses,
    ),
)
