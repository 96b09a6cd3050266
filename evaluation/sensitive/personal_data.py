"""Finds personal data: addresses, telephone numbers, cards, accounts, numbers of people.

A number that has no distinctive form counts only behind a word that announces it (``"ssn": "123456789"``).
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator
from functools import lru_cache
from itertools import chain
from typing import Final

from agents.credentials.detector import Detector, Pattern, Span


def stands_alone(data: bytes, start: int, end: int) -> bool:
    """Return whether no letter or digit adjoins a value, and no joining mark with a digit behind it."""
    before, after = data[max(0, start - 2) : start], data[end : end + 2]
    has_neighbour = before[-1:].isalnum() or after[:1].isalnum()
    return not (has_neighbour or _is_joined(before) or _is_joined(after[::-1]))


def _is_joined(neighbours: bytes) -> bool:
    # In "123-45-6789-1" and "1.2.3.4.5" the match is a part of a longer number.
    return neighbours[:1].isdigit() and neighbours[1:] in {b"-", b".", b"/", b":", b","}


_BETWEEN: Final = (
    r"[\"'\\\]`*\s:=#.()_\-]{0,8}"
    r"(?:(?:number|num|no|nr|nummer|card|n\xfamero|numero|num\x3fro|num\xe9ro|value|code|id|is|was|ist|lautet|es|est|\xe8|of|at|am|on|the|den|le|el|il)\b"
    r"[\"'\\\]`*\s:=#.()_\-]{0,8}){0,3}"
)


def label_pattern(words: str) -> Pattern:
    """Match words that announce a value, as in ``phone: 5551234567``, up to the place where it may begin."""
    return Pattern(rf"(?i)(?:{words}){_BETWEEN}")


def find_labelled(data: bytes, label: Pattern, value: Pattern) -> Iterator[tuple[int, int]]:
    """Yield the values that stand alone right behind a label."""
    for _, start in label.find_spans(data):
        end = value.match_end(data, start)
        if end > 0 and stands_alone(data, start, end):
            yield start, end


def label_trigger(words: str, value: str = "[0-9+(]") -> str:
    """Build the trigger of a labelled value."""
    return rf"(?i:{words})(?:[^0-9A-Za-z]{{0,16}}(?i:[a-z]{{1,7}}\b)?){{0,3}}[^0-9A-Za-z]{{0,16}}{value}"


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
_PHONES: Final = (
    Pattern(
        r"(\+\(?[1-9](?:[ ()./\-]{0,2}[0-9]){6,14})"
        r"|(?:^|[^0-9A-Za-z ]|(?:^|[^0-9]) )(00[ (]{0,2}[1-9](?:[ ()./\-]{0,3}[0-9]){6,14})"
    ),
    Pattern(r"(?:\b1[ .\-])?(?:\([2-9][0-9]{2}\) ?|[2-9][0-9]{2}[ .\-])[2-9][0-9]{2}[ .\-][0-9]{4}"),
    Pattern(r"\(?0[1-9][0-9]{1,3}\)?[ /\-]{1,2}[0-9]{3,8}(?:[ \-][0-9]{2,5}){0,2}"),
)
"""Numbers with the code of a country, American ones, and national ones that begin with 0."""
_PHONE_DIGITS: Final = range(7, 16)

_IPV4: Final = Pattern(r"[0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,3}")
_IPV6: Final = Pattern(r"[0-9A-Fa-f:]*:[0-9A-Fa-f:]*:[0-9A-Fa-f:.]*[0-9A-Fa-f:]")
_LONGEST_IPV6: Final = 45
_LONGEST_LOGIN: Final = 100


def _find_emails(data: bytes) -> Iterator[Span]:
    for place, end in _EMAIL.find_spans(data):
        address = data[place:end].decode("latin-1").lstrip("'/=&?.-%")
        local, _, host = address.rpartition("@")
        start = end - len(address)
        # "git@github.com:org/repo", "icon@2x.png" and "https://me:word@host.org" only look like addresses.
        is_file = host.rpartition(".")[2].lower() in _FILE_ENDINGS
        is_login = _LOGIN_OF_URL.occurs_in(data[max(0, start - _LONGEST_LOGIN) : start])
        if local and local != "git" and not (is_file or is_login):
            yield Span(start, end, "email", "personal")


def _find_phones(data: bytes) -> Iterator[Span]:
    written = chain.from_iterable(form.find_spans(data) for form in _PHONES)
    for start, end in chain(written, find_labelled(data, _PHONE_LABEL, _LABELLED_NUMBER)):
        digits = sum(map(data[start:end].count, b"0123456789"))
        if digits in _PHONE_DIGITS and stands_alone(data, start, end):
            # A bracket before the number may have counted to the label.
            yield Span(start - (data[start - 1 : start] == b"("), end, "phone", "personal")


def _find_addresses(data: bytes) -> Iterator[Span]:
    for start, end in chain(_IPV4.find_spans(data), _IPV6.find_spans(data)):
        # "1.2.3.4" is a version or a chapter.
        is_address = len("1.2.3.4") < end - start <= _LONGEST_IPV6 and stands_alone(data, start, end)
        if is_address and _is_public(data[start:end].decode("latin-1")):
            yield Span(start, end, "ip_address", "personal")


@lru_cache(1024)  # the addresses of a log recur, in several texts of a run
def _is_public(address: str) -> bool:
    """Return whether an address can belong to a person's line: no example, no local network."""
    try:
        return ipaddress.ip_address(address).is_global
    except ValueError:
        return False


_CARD: Final = Pattern(
    r"[0-9]{4}[ \-]?[0-9]{4}[ \-]?[0-9]{4}[ \-]?[0-9]{1,7}"
    r"|3[0-9]{3}[ \-]?[0-9]{6}[ \-]?[0-9]{4,5}|[0-9]{13,19}"
)
_ISSUERS: Final = Pattern(r"(?:2[2-7]|3[04-9]|4|5|6|9792)[0-9]+$")
"""The first digits of a card: of Visa, Mastercard, American Express, Discover, UnionPay and others."""
_IBAN: Final = Pattern(r"[A-Za-z]{2}[0-9]{2}(?:[ \-]?[A-Za-z0-9]{1,4}){3,9}")
_SHORTEST_IBAN: Final = 15
_LONGEST_IBAN: Final = 34
_PERSON_WORDS: Final = (
    r"\bssn|_ssn|social[_ \-]?(?:security|insurance)|\bitin\b|\btin\b|taxpayer|tax[_ \-]?id|\bnino\b|\bni[_ ]"
    r"|national[_ \-]?(?:id|number|insurance)|personal[_ \-]?(?:id|code)|identity[_ \-]?(?:number|card)"
    r"|\bnhs|_nhs|steuer-?id|steuernummer|identifikationsnummer|\bidnr|sozialversicherung|svnr|sv-nummer"
    r"|\bahv|\bavs|\bnir\b|s.{1,2}curit.{1,2} sociale|\bdni\b|\bnif\b|\bnie\b|documento|codice fiscale"
    r"|rijksregister|num.{1,2}ro national|\bbsn|burgerservice|pesel|\bcpf|aadhaa?r|\bpan\b|\bsin\b|_sin\b"
)
_PERSON_LABEL: Final = label_pattern(rf"(?:{_PERSON_WORDS})[a-z]{{0,24}}")
_PERSON_VALUE: Final = Pattern(
    r"(?i)(?:[A-Z]{1,6}[ \-]?)?[0-9][0-9A-Z]*(?:[ ./\-][0-9][0-9A-Z]*)*(?:[ \-]?[A-Z]\b)?"
)
_PERSON_LENGTHS: Final = range(8, 17)
# Of the United States, the United Kingdom, Spain, Italy, Belgium, Switzerland and Brazil.
_PERSON_FORMS: Final = (
    r"(?:00[1-9]|0[1-9]\d|[1-578]\d\d|6[0-57-9]\d|66[0-57-9])-\d\d-\d{4}"
    r"|[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] ?\d{2} ?\d{2} ?\d{2} ?[A-D]"
    r"|[XYZ]-?\d{7}-?[A-Z]|[A-Z]{6} ?\d{2}[A-Z]\d{2} ?[A-Z]\d{3}[A-Z]"
    r"|\d{2}\.\d{2}\.\d{2}-\d{3}\.\d{2}|756\.\d{4}\.\d{4}\.\d{2}|\d{3}\.\d{3}\.\d{3}-\d{2}"
)
_PERSON_FORM: Final = Pattern(f"(?:^|[^0-9A-Za-z])({_PERSON_FORMS})")


def _find_people(data: bytes) -> Iterator[Span]:
    """Yield numbers of people: in a distinctive form, and in any spelling behind a word that names them."""
    for start, end in _PERSON_FORM.find_spans(data):
        if stands_alone(data, start, end):
            yield Span(start, end, "national_id", "personal")
    for start, end in find_labelled(data, _PERSON_LABEL, _PERSON_VALUE):
        if sum(map(str.isalnum, data[start:end].decode("latin-1"))) in _PERSON_LENGTHS:
            yield Span(start, end, "national_id", "personal")


def _find_cards(data: bytes) -> Iterator[Span]:
    for start, end in _CARD.find_spans(data):
        digits = data[start:end].translate(None, b" -")
        has_issuer = stands_alone(data, start, end) and _ISSUERS.match_end(digits, 0) >= 0
        if has_issuer and _passes_luhn(digits.decode()):
            yield Span(start, end, "payment_card", "personal")


def _passes_luhn(digits: str) -> bool:
    """Return whether the check digit of a card number is right (ISO/IEC 7812)."""
    doubled = (sum(divmod(2 * int(digit), 10)) for digit in digits[-2::-2])
    return (sum(map(int, digits[-1::-2])) + sum(doubled)) % 10 == 0


def _find_accounts(data: bytes) -> Iterator[Span]:
    for start, end in _IBAN.find_spans(data):
        if not data[max(0, start - 1) : start].isalnum():
            length = _account_length(data[start:end].decode("latin-1"))
            if length and not data[start + length : start + length + 1].isalnum():
                yield Span(start, start + length, "iban", "personal")


def _account_length(text: str) -> int:
    """Return how much of ``text`` is an IBAN with the right check digits (ISO 13616), or 0."""
    ends = [place + 1 for place, character in enumerate(text) if character.isalnum()]
    compact = "".join(character for character in text.upper() if character.isalnum())
    # A word behind a number in groups looks like another group, so try shorter numbers too.
    for size in range(min(len(compact), _LONGEST_IBAN), _SHORTEST_IBAN - 1, -1):
        rotated = compact[4:size] + compact[:4]
        if int("".join(str(int(character, 36)) for character in rotated)) % 97 == 1:
            return ends[size - 1]
    return 0


CONTACT_DETECTORS: Final = (
    Detector(r"[^\s\"@]@[A-Za-z0-9\x80-\xff?]", _find_emails),
    Detector(
        r"\+\(?[1-9](?:[ ()./\-]{0,2}[0-9]){6}"
        r"|(?:^|[^0-9.,])00[1-9](?:[ ()./\-]{0,3}[0-9]){6}"
        r"|[2-9][0-9]{2}\)?[ .\-]{0,2}[2-9][0-9]{2}[ .\-][0-9]{4}"
        r"|(?:^|[^0-9.,:\-])\(?0[1-9](?:[ ()/.\-]{0,3}[0-9]){7}"
        rf"|{label_trigger(_PHONE_WORDS)}",
        _find_phones,
    ),
    Detector(
        r"[0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,3}\.[0-9]"
        r"|::[0-9A-Fa-f]|(?:[0-9A-Fa-f]{1,4}:){3}[0-9A-Fa-f]{0,4}:",
        _find_addresses,
    ),
)
PERSON_DETECTORS: Final = (
    Detector(f"{_PERSON_FORMS}|{label_trigger(_PERSON_WORDS, '[A-Za-z]{0,6}[0-9]')}", _find_people),
)
DETECTORS: Final = (
    Detector(r"(?:^|[^0-9A-Za-z.\-]|\\[nrt])[0-9](?:[ \-]?[0-9]){12}", _find_cards),
    Detector(r"[A-Z]{2}[0-9]{2}(?:[ \-]?[A-Z0-9]{4}){2}|(?i:iban)|[a-z]{2}[0-9]{12}", _find_accounts),
)
