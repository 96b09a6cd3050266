"""Finds e-mail addresses, telephone numbers, and IP and MAC addresses."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import chain
from typing import Final

from evaluation.sensitive.detector import (
    Detector,
    EncodedText,
    Pattern,
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
_FILE_ENDINGS: Final = frozenset(
    {"png", "jpg", "jpeg", "gif", "svg", "webp", "js", "ts", "css", "json", "html", "py", "md", "txt"}
)

_PHONE_WORDS: Final = (
    r"phone|mobile|\bcell\b|cell_|cellulare|cellular|\bfax|whatsapp|telefon|t.{1,2}l.{1,2}phone|tel.{1,2}fono|\btel\b|_tel\b"
    r"|handy|m.{1,2}vil|celular|telefoon|\bgsm\b|portable|puhelin|mobil|numara"
)
_PHONE_LABEL: Final = label_pattern(_PHONE_WORDS)
_LABELLED_NUMBER: Final = Pattern(r"\+?[ (]{0,2}[0-9](?:[ ()./\-]{0,3}[0-9]){6,14}")
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


def _find_emails(subject: EncodedText) -> Iterator[Span]:
    for start, end in subject.find_spans(_EMAIL):
        address = subject.decode(start, end).lstrip("'/=&?.-%")
        local, _, host = address.rpartition("@")
        # "git@github.com:org/repo" and "icon@2x.png" only look like addresses.
        if local and local != "git" and host.rpartition(".")[2].lower() not in _FILE_ENDINGS:
            yield Span(end - len(address), end, "email", "personal")


def _find_phones(subject: EncodedText) -> Iterator[Span]:
    data = subject.data
    # Without a label, only numbers with a leading 0: other national numbers look like any digits.
    is_trunk_number = partial(_is_national_number, regions=_TRUNK_REGIONS)
    international = (
        span for span in subject.find_spans(_INTERNATIONAL) if not _is_digit_group(data, span[0])
    )
    places = chain(
        _check_numbers(subject, international, _is_international_number),
        (span for span in subject.find_spans(_AMERICAN) if stands_alone(data, *span)),
        _check_numbers(subject, subject.find_spans(_TRUNK), is_trunk_number),
        _check_numbers(subject, _labelled_numbers(subject), _is_phone_number),
    )
    yield from (Span(start, end, "phone", "personal") for start, end in places)


def _is_digit_group(data: bytes, start: int) -> bool:
    """Return whether "00" at ``start`` continues a number in groups of digits, as in ``12 001 234``."""
    return data[start : start + 1] == b"0" and data[max(0, start - 2) : start - 1].isdigit()


def _labelled_numbers(subject: EncodedText) -> Iterator[tuple[int, int]]:
    data = subject.data
    for _, place in subject.find_spans(_PHONE_LABEL):
        start = place - (data[place - 1 : place] == b"(")  # the label's pattern may have consumed the bracket
        end = _LABELLED_NUMBER.match_end(data, start)
        if end > 0 and _DATE.match_end(data, start) < 0:
            yield start, end


def _check_numbers(
    subject: EncodedText, places: Iterable[tuple[int, int]], is_number: Callable[[str], bool]
) -> Iterator[tuple[int, int]]:
    for start, end in places:
        if stands_alone(subject.data, start, end):
            subject.quota.use(_COST)
            if is_number(subject.decode(start, end)):
                yield start, end


def _is_phone_number(number: str) -> bool:
    if number.lstrip(" (").startswith("+"):
        return _is_international_number(number)
    return _is_national_number(number, _REGIONS)


def _is_international_number(number: str) -> bool:
    """Return whether a number has a country code and a length that this country uses."""
    import phonenumbers  # noqa: PLC0415  its import takes a fifth of a second, and few texts need it

    plain = number.lstrip(" (")
    try:
        parsed = phonenumbers.parse(plain if plain.startswith("+") else f"+{plain[2:]}", None)
    except phonenumbers.NumberParseException:
        return False
    return phonenumbers.is_possible_number(parsed)


def _is_national_number(number: str, regions: tuple[str, ...]) -> bool:
    return any(_is_assigned_number(number, region) for region in regions)


def _is_assigned_number(number: str, region: str) -> bool:
    import phonenumbers  # noqa: PLC0415  as above

    try:
        return phonenumbers.is_valid_number(phonenumbers.parse(number, region))
    except phonenumbers.NumberParseException:
        return False


def _find_addresses(subject: EncodedText) -> Iterator[Span]:
    data = subject.data
    for start, end in chain(subject.find_spans(_IPV4), subject.find_spans(_IPV6)):
        is_address = end - start <= _LONGEST_IPV6 and stands_alone(data, start, end)
        if is_address and _is_public(subject.decode(start, end)) and not _is_version(data, start, end):
            yield Span(start, end, "ip_address", "personal")
    for start, end in subject.find_spans(_MAC):
        # Two different characters only, as in "00:00:00:00:00:00": a placeholder.
        if stands_alone(data, start, end) and len({*subject.decode(start, end)}) > 2:  # noqa: PLR2004
            yield Span(start, end, "mac_address", "personal")


def _is_version(data: bytes, start: int, end: int) -> bool:
    """Return whether four numbers are a version or a chapter: ``version 10.0.19045.1``, ``3.1.4.1``."""
    if b":" in data[start:end]:
        return False
    return end - start == len("1.2.3.4") or _VERSION.occurs_in(data[max(0, start - 16) : start])


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
