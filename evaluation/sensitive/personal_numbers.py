r"""Finds personal data: addresses, telephone numbers, and the numbers of cards, accounts and people.

python-stdnum checks the numbers of cards, accounts (IBAN, ISO 13616) and people. A valid checksum alone
is not enough: one in ten order numbers has one. So a national number counts only in a distinctive written
form (``123-45-6789``) or behind a word that names it (``"ssn": "123456789"``).
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from importlib import import_module
from itertools import chain
from typing import Final, cast

from agents.credentials.detector import (
    Detector,
    EncodedText,
    Pattern,
    Quota,
)
from agents.credentials.spans import Span


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
    r"(?:(?:number|num|no|nr|nummer|n\xfamero|numero|num\x3fro|num\xe9ro|value|code|id|is|was|ist|lautet|es|est|\xe8|of|at|am|on|the|den|le|el|il)\b"
    r"[\"'\\\]`*\s:=#.()_\-]{0,8}){0,3}"
)


def label_pattern(words: str) -> Pattern:
    """Match words that announce a value, as in ``phone: 5551234567``, up to the place where it may begin."""
    return Pattern(rf"(?i)(?:{words}){_BETWEEN}")


def find_labelled(subject: EncodedText, label: Pattern, value: Pattern) -> Iterator[tuple[int, int]]:
    """Yield the values that stand alone right behind a label."""
    for _, start in subject.find_spans(label):
        end = value.match_end(subject.data, start)
        if end > 0 and stands_alone(subject.data, start, end):
            yield start, end


def label_trigger(words: str, value: str = "[0-9+(]") -> str:
    """Build the trigger of a labelled value."""
    return rf"(?i:{words})(?:[^0-9A-Za-z]{{0,16}}(?i:[a-z]{{1,7}}\b)?){{0,3}}[^0-9A-Za-z]{{0,16}}{value}"


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
_PHONE_COST: Final = 20
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
            subject.quota.use(_PHONE_COST)
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


_COST: Final = 5
"""Candidates of a text that one check counts for. It takes about 50 µs."""


def _has_valid_checksum(module: str, number: bytes, quota: Quota) -> bool:
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
_ISSUERS: Final = Pattern(r"(?:2[2-7]|3[04-9]|4|5|6|9792)[0-9]+$")
"""The first digits of a card: of Visa, Mastercard, American Express, Discover, UnionPay and others."""
_IBAN: Final = Pattern(r"[A-Za-z]{2}[0-9]{2}(?:[ \-]?[A-Za-z0-9]{1,4}){3,9}")
_SHORTEST_IBAN: Final = 15
_LONGEST_IBAN: Final = 34
_GENERAL_WORDS: Final = (
    r"national[_ \-]?(?:id|number)|personal[_ \-]?(?:id|number|code)|identity[_ \-]?(?:number|card|no)|fiscal"
    r"|id[_ \-]number|tax[_ \-]?(?:id|number|payer)|citizen|\btin\b|government[_ \-]?id|id[_ ]card"
)
_Row = tuple[str, str, str, str, bool]
# Each row: kind, module of python-stdnum (empty if it has none), usual written form, words that announce it,
# and whether the form alone is enough.
# Forms are in RE2's syntax. Most leave the ranges of digits and letters to python-stdnum: one automaton for
# all forms stays small only if it need not remember which digits it has read.
_ROWS: Final[tuple[_Row, ...]] = (
    ("us_ssn", "us.ssn", r"\d{3}-\d{2}-\d{4}", r"\bssn|_ssn|social[_ \-]?security", True),
    ("us_itin", "us.itin", r"\d{3}-\d{2}-\d{4}", r"\bitin|taxpayer", True),
    ("gb_nino", "", r"[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] ?\d{2} ?\d{2} ?\d{2} ?[A-D]", r"\bnino\b", True),
    ("de_tax_id", "de.idnr", r"\d{2} \d{3} \d{3} \d{3}", r"steuer|identifikationsnummer|\bidnr", True),
    ("fr_nir", "fr.nir", r"\d \d{2} \d{2} \d[\dAB] \d{3} \d{3} \d{2}",
     r"\bnir\b|s.{1,2}curit.{1,2} sociale|\binsee|num.{1,2}ro de s", True),
    ("es_dni", "es.dni", r"\d{8}-?[A-Z]", r"\bdni\b|\bnif\b|documento", True),
    ("es_nie", "es.nie", r"[XYZ]-?\d{7}-?[A-Z]", r"\bnie\b|\bnif\b", True),
    ("it_fiscal_code", "it.codicefiscale",
     r"[A-Z]{6} ?[\dA-Z]{2}[A-Z][\dA-Z]{2} ?[A-Z][\dA-Z]{3}[A-Z]", "codice", True),
    ("be_nn", "be.nn", r"\d{2}\.\d{2}\.\d{2}-\d{3}\.\d{2}",
     r"rijksregister|registre national|num.{1,2}ro national|\bnn\b|\binsz|\bniss", True),
    ("ch_ahv", "ch.ssn", r"756\.\d{4}\.\d{4}\.\d{2}", r"\bahv|\bavs|sozialversicherung", True),
    ("br_cpf", "br.cpf", r"\d{3}\.\d{3}\.\d{3}-\d{2}", r"\bcpf", True),
    ("in_aadhaar", "in_.aadhaar", r"[2-9]\d{3} \d{4} \d{4}", "aadhaar|aadhar|uidai", True),
    ("in_pan", "in_.pan", r"[A-Z]{3}P[A-Z]\d{4}[A-Z]", r"\bpan\b|permanent account", True),
    # These forms are those of many other numbers, so only the words count.
    ("gb_nino", "", r"[A-Z]{2} ?\d{2} ?\d{2} ?\d{2} ?[A-D]", r"national[_ \-]?insurance|\bni[_ ]", False),
    ("gb_nhs", "gb.nhs", r"\d{3} \d{3} \d{4}", r"\bnhs|_nhs|patient", False),
    ("nl_bsn", "nl.bsn", r"\d{4}\.\d{2}\.\d{3}", r"\bbsn|burgerservice|sofi", False),
    ("pl_pesel", "pl.pesel", r"\d{11}", "pesel", False),
    ("at_vnr", "at.vnr", r"\d{4} \d{6}", "svnr|sozialversicherung|versicherungsnummer|sv-nummer", False),
    ("ca_sin", "ca.sin", r"\d{3}-\d{3}-\d{3}", r"\bsin\b|_sin\b|social[_ \-]?insurance", False),
)  # fmt: skip
_CLASS_OR_SEPARATOR: Final = re.compile(r"(\[[^\]]*\])|(?: |-|/|\\\.)\??")


class _Number:
    """One national number with its compiled patterns."""

    def __init__(self, row: _Row) -> None:
        self._kind, self._module, form, words, is_distinctive = row
        self._written = Pattern(f"(?:^|[^0-9A-Za-z])({form})") if is_distinctive else None
        # Any separator, or none, for each separator of the form, and small letters for capitals.
        loose = _CLASS_OR_SEPARATOR.sub(lambda part: part[1] or r"[ ./\-]?", form)
        self._loose = Pattern(f"(?i:{loose})")
        self._label = label_pattern(rf"(?:{words}|{_GENERAL_WORDS})[a-z]{{0,24}}")

    def find(self, subject: EncodedText) -> Iterator[Span]:
        """Yield the numbers in a distinctive form, and in any spelling behind a word that names them."""
        written = subject.find_spans(self._written) if self._written else ()
        for start, end in (*written, *find_labelled(subject, self._label, self._loose)):
            number = subject.data[start:end]
            is_alone = stands_alone(subject.data, start, end)
            if is_alone and _has_valid_checksum(self._module, number, subject.quota):
                yield Span(start, end, self._kind, "personal")


_NUMBERS: Final = tuple(map(_Number, _ROWS))
_WRITTEN: Final = "|".join(dict.fromkeys(form for _, _, form, _, is_distinctive in _ROWS if is_distinctive))
_WORDS: Final = "|".join(dict.fromkeys([*(words for *_, words, _ in _ROWS), _GENERAL_WORDS]))

_BIRTH_WORDS: Final = (
    r"\bdob\b|_dob|date[_ \-]?of[_ \-]?birth|birth[_ \-]?da(?:te|y)|\bborn\b|geburtsdatum|\bgeb\.|geboren"
    r"|naissance|nacimiento|nascita|nascimento|geboorte"
)
_BIRTH_LABEL: Final = label_pattern(_BIRTH_WORDS)
_MONTHS: Final = "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec"
_DATE: Final = Pattern(
    r"(?i)(?:19|20)[0-9]{2}[\-/.][0-9]{1,2}[\-/.][0-9]{1,2}"
    r"|[0-9]{1,2}[\-/. ]{1,2}[0-9]{1,2}[\-/. ]{1,2}(?:19|20)?[0-9]{2}"
    rf"|(?:[0-9]{{1,2}}\.? )?(?:{_MONTHS})[a-z]*\.? (?:[0-9]{{1,2}},? )?(?:19|20)[0-9]{{2}}"
)


def _find_numbers(subject: EncodedText) -> Iterator[Span]:
    for number in _NUMBERS:
        yield from number.find(subject)


def _find_births(subject: EncodedText) -> Iterator[Span]:
    for start, end in find_labelled(subject, _BIRTH_LABEL, _DATE):
        yield Span(start, end, "date_of_birth", "personal")


def _find_cards(subject: EncodedText) -> Iterator[Span]:
    data = subject.data
    for start, end in subject.find_spans(_CARD):
        digits = data[start:end].translate(None, b" -")
        has_issuer = stands_alone(data, start, end) and _ISSUERS.match_end(digits, 0) >= 0
        if has_issuer and _has_valid_checksum("luhn", digits, subject.quota):
            yield Span(start, end, "payment_card", "personal")


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


CONTACT_DETECTORS: Final = (
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
DETECTORS: Final = (
    Detector(r"(?:^|[^0-9A-Za-z.\-]|\\[nrt])[0-9](?:[ \-]?[0-9]){12}", _find_cards),
    Detector(r"[A-Z]{2}[0-9]{2}(?:[ \-]?[A-Z0-9]{4}){2}|(?i:iban)|[a-z]{2}[0-9]{12}", _find_accounts),
    Detector(f"{_WRITTEN}|{label_trigger(_WORDS, '[A-Za-z]{0,6}[0-9]')}", _find_numbers),
    Detector(label_trigger(_BIRTH_WORDS, f"(?i:[0-9]|{_MONTHS})"), _find_births),
)
