r"""Finds national identity numbers and dates of birth.

python-stdnum checks the numbers. A valid checksum alone is not enough: one in ten order numbers has one.
So a number counts only in a distinctive written form (``123-45-6789``) or behind a word that names it
(``"ssn": "123456789"``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
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
from evaluation.sensitive.payment import has_valid_checksum
from evaluation.sensitive.spans import Span

_GENERAL_WORDS: Final = (
    r"national[_ \-]?(?:id|number)|personal[_ \-]?(?:id|number|code)|identity[_ \-]?(?:number|card|no)|fiscal"
    r"|id[_ \-]number|tax[_ \-]?(?:id|number|payer)|citizen|\btin\b|government[_ \-]?id|id[_ ]card"
)
_Row = tuple[str, str, str, str]
# Each row: kind, module of python-stdnum (empty if it has none), usual written form, words that announce it.
# Forms are in RE2's syntax. Most leave the ranges of digits and letters to python-stdnum: one automaton for
# all forms stays small only if it need not remember which digits it has read.
_DISTINCTIVE_ROWS: Final[tuple[_Row, ...]] = (
    ("us_ssn", "us.ssn", r"\d{3}-\d{2}-\d{4}", r"\bssn|_ssn|social[_ \-]?security"),
    ("us_itin", "us.itin", r"\d{3}-\d{2}-\d{4}", r"\bitin|taxpayer"),
    ("gb_nino", "", r"[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] ?\d{2} ?\d{2} ?\d{2} ?[A-D]", r"\bnino\b"),
    ("de_tax_id", "de.idnr", r"\d{2} \d{3} \d{3} \d{3}", r"steuer|identifikationsnummer|\bidnr"),
    ("fr_nir", "fr.nir", r"\d \d{2} \d{2} \d[\dAB] \d{3} \d{3} \d{2}",
     r"\bnir\b|s.{1,2}curit.{1,2} sociale|\binsee|num.{1,2}ro de s"),
    ("es_dni", "es.dni", r"\d{8}-?[A-Z]", r"\bdni\b|\bnif\b|documento"),
    ("es_nie", "es.nie", r"[XYZ]-?\d{7}-?[A-Z]", r"\bnie\b|\bnif\b"),
    ("it_fiscal_code", "it.codicefiscale",
     r"[A-Z]{6} ?[\dA-Z]{2}[A-Z][\dA-Z]{2} ?[A-Z][\dA-Z]{3}[A-Z]", "codice"),
    ("be_nn", "be.nn", r"\d{2}\.\d{2}\.\d{2}-\d{3}\.\d{2}",
     r"rijksregister|registre national|num.{1,2}ro national|\bnn\b|\binsz|\bniss"),
    ("ch_ahv", "ch.ssn", r"756\.\d{4}\.\d{4}\.\d{2}", r"\bahv|\bavs|sozialversicherung"),
    ("br_cpf", "br.cpf", r"\d{3}\.\d{3}\.\d{3}-\d{2}", r"\bcpf"),
    ("in_aadhaar", "in_.aadhaar", r"[2-9]\d{3} \d{4} \d{4}", "aadhaar|aadhar|uidai"),
    ("in_pan", "in_.pan", r"[A-Z]{3}P[A-Z]\d{4}[A-Z]", r"\bpan\b|permanent account"),
)  # fmt: skip
_PLAIN_ROWS: Final[tuple[_Row, ...]] = (
    ("gb_nino", "", r"[A-Z]{2} ?\d{2} ?\d{2} ?\d{2} ?[A-D]", r"national[_ \-]?insurance|\bnino\b|\bni[_ ]"),
    ("gb_nhs", "gb.nhs", r"\d{3} \d{3} \d{4}", r"\bnhs|_nhs|patient"),
    ("nl_bsn", "nl.bsn", r"\d{4}\.\d{2}\.\d{3}", r"\bbsn|burgerservice|sofi"),
    ("pl_pesel", "pl.pesel", r"\d{11}", "pesel"),
    ("at_vnr", "at.vnr", r"\d{4} \d{6}", "svnr|sozialversicherung|versicherungsnummer|sv-nummer"),
    ("ca_sin", "ca.sin", r"\d{3}-\d{3}-\d{3}", r"\bsin\b|_sin\b|social[_ \-]?insurance"),
)  # fmt: skip
_CLASS_OR_SEPARATOR: Final = re.compile(r"(\[[^\]]*\])|(?: |-|/|\\\.)\??")
_ANY_SEPARATOR: Final = r"[ ./\-]?"


def _allow_any_separator(form: str) -> str:
    """Let any separator, or none, stand for each separator of a form, and small letters for capitals."""
    loose = _CLASS_OR_SEPARATOR.sub(lambda part: part[1] or _ANY_SEPARATOR, form)
    return f"(?i:{loose})"


class _Number:
    """One national number with its compiled patterns."""

    def __init__(self, row: _Row, *, is_distinctive: bool) -> None:
        self._kind, self._module, form, words = row
        self._written = Pattern(f"(?:^|[^0-9A-Za-z])({form})") if is_distinctive else None
        self._loose = Pattern(_allow_any_separator(form))
        self._label = label_pattern(rf"(?:{words}|{_GENERAL_WORDS})[a-z]{{0,24}}")

    def find(self, subject: EncodedText) -> Iterator[Span]:
        """Yield the numbers in a distinctive form, and in any spelling behind a word that names them."""
        written = subject.find_spans(self._written) if self._written else ()
        for start, end in (*written, *find_labelled(subject, self._label, self._loose)):
            number = subject.data[start:end]
            is_alone = stands_alone(subject.data, start, end)
            if is_alone and has_valid_checksum(self._module, number, subject.quota):
                yield Span(start, end, self._kind, "personal")


_NUMBERS: Final = (
    *(_Number(row, is_distinctive=True) for row in _DISTINCTIVE_ROWS),
    *(_Number(row, is_distinctive=False) for row in _PLAIN_ROWS),
)
_WRITTEN: Final = "|".join(dict.fromkeys(form for _, _, form, _ in _DISTINCTIVE_ROWS))
_WORDS: Final = "|".join(
    dict.fromkeys([*(words for *_, words in (*_DISTINCTIVE_ROWS, *_PLAIN_ROWS)), _GENERAL_WORDS])
)

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


DETECTORS: Final = (
    Detector(f"{_WRITTEN}|{label_trigger(_WORDS, '[A-Za-z]{0,6}[0-9]')}", _find_numbers),
    Detector(label_trigger(_BIRTH_WORDS, f"(?i:[0-9]|{_MONTHS})"), _find_births),
)
