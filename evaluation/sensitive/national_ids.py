"""Numbers that states give to people, with their checksums from python-stdnum.

A number is found in one of two ways: by a written form that is its own (``123-45-6789``), or, as bare digits,
behind a word that names it (``"ssn": "123456789"``). A checksum alone is not enough: one in ten order numbers
has it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from evaluation.sensitive import european_numbers, other_numbers
from evaluation.sensitive.number_form import NumberForm, widened
from evaluation.sensitive.patterns import Detector, Labelled, Pattern, Subject, apart, trigger
from evaluation.sensitive.payment import MOST_CHECKED, is_right
from evaluation.sensitive.spans import Span

_GENERAL: Final = (
    r"national[_ \-]?(?:id|number)|personal[_ \-]?(?:id|number|code)|identity[_ \-]?(?:number|card|no)|fiscal"
    r"|id[_ \-]number|tax[_ \-]?(?:id|number|payer)|citizen|\btin\b|government[_ \-]?id|id[_ ]card"
)


class _Number:
    """A form with its patterns."""

    def __init__(self, form: NumberForm) -> None:
        self.kind, self.module = form.kind, form.module
        self.form = Pattern(form.form) if form.form else None
        self.bare = Pattern(form.bare)
        self.words = Pattern(f"(?i:{form.words}|{_GENERAL})")


_FORMS: Final = (*european_numbers.NUMBERS, *other_numbers.NUMBERS)
_NUMBERS: Final = tuple(map(_Number, _FORMS))
_WORDS: Final = "|".join([*dict.fromkeys(one.words for one in _FORMS), _GENERAL])
_LABELLED: Final = Labelled(rf"(?:{_WORDS})[a-z]{{0,24}}")
_OWN_FORMS: Final = "|".join(one.form for one in _FORMS if one.form)
_ANY_BARE: Final = Pattern("|".join(f"(?:{one.bare})" for one in _FORMS))
_ANY_NUMBER: Final = Pattern(r"[0-9][0-9 ./\-]{5,18}[0-9][A-Za-z]?")
_ANY_FORM: Final = Pattern(_OWN_FORMS, longest=True)
_FORM_STARTS: Final = Pattern(f"(?:^|[^0-9A-Za-z])(?:{widened(_OWN_FORMS)})")

_BIRTH_WORDS: Final = (
    r"\bdob\b|_dob|date[_ \-]?of[_ \-]?birth|birth[_ \-]?da(?:te|y)|\bborn\b|geburtsdatum|\bgeb\.|geboren"
    r"|naissance|nacimiento|nascita|nascimento|geboorte"
)
_BIRTHS: Final = Labelled(_BIRTH_WORDS)
_MONTHS: Final = "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec"
_BIRTHDAY: Final = Pattern(
    r"(?i)(?:19|20)[0-9]{2}[\-/.][0-9]{1,2}[\-/.][0-9]{1,2}"
    r"|[0-9]{1,2}[\-/. ]{1,2}[0-9]{1,2}[\-/. ]{1,2}(?:19|20)?[0-9]{2}"
    rf"|(?:[0-9]{{1,2}}\.? )?(?:{_MONTHS})[a-z]*\.? (?:[0-9]{{1,2}},? )?(?:19|20)[0-9]{{2}}"
)


def _nationals(subject: Subject) -> Iterator[Span]:
    data = subject.data
    formed = (span for span in _forms(subject) if apart(data, *span))
    for turn, (start, end) in enumerate(formed):
        yield from _formed(data, start, end, turn)
    labelled = (place for place in _LABELLED.places(subject) if _ANY_BARE.end_at(data, place[1]) > 0)
    for turn, (label, start) in enumerate(labelled):
        yield from _behind(data, label, start, turn)


def _forms(subject: Subject) -> Iterator[tuple[int, int]]:
    """Yield where a form of any country stands; asked only where one may start, see ``widened``."""
    data, place = subject.data, 0
    while (found := _FORM_STARTS.first(data, place)) >= 0:
        subject.turns.take()
        start = found + (not data[found : found + 1].isalnum())
        end = _ANY_FORM.end_at(data, start)
        if end > 0:
            yield start, end
        place = max(end, start + 1)


def _formed(data: bytes, start: int, end: int, turn: int) -> Iterator[Span]:
    if turn >= MOST_CHECKED:
        yield Span(start, end, "national_number", "personal")
        return
    for one in _NUMBERS:
        if one.form and one.form.end_at(data, start) == end and is_right(one.module, data[start:end]):
            yield Span(start, end, one.kind, "personal")
            return


def _behind(data: bytes, label: int, start: int, turn: int) -> Iterator[Span]:
    """Find the number that a word announces; the first whose check digits are right."""
    if turn >= MOST_CHECKED:
        end = _ANY_NUMBER.end_at(data, start)
        yield from [Span(start, end, "national_number", "personal")] if end > 0 else ()
        return
    for one in _NUMBERS:
        end = one.bare.end_at(data, start)
        named = end > 0 and apart(data, start, end) and one.words.occurs(data[label:start])
        if named and is_right(one.module, data[start:end]):
            yield Span(start, end, one.kind, "personal")
            return


def _births(subject: Subject) -> Iterator[Span]:
    for _, start in _BIRTHS.places(subject):
        end = _BIRTHDAY.end_at(subject.data, start)
        if end > 0 and apart(subject.data, start, end):
            yield Span(start, end, "date_of_birth", "personal")


DETECTORS: Final = (
    Detector(f"{widened(_OWN_FORMS)}|{trigger(_WORDS, '[A-Za-z]{0,6}[0-9]')}", _nationals),
    Detector(trigger(_BIRTH_WORDS, f"(?i:[0-9]|{_MONTHS})"), _births),
)
