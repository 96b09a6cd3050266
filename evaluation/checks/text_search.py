"""Searches phrases, patterns and numbers in a text: as it is read, and behind disguises.

What is required has to stand there for every reader. What is forbidden is also found behind look-alikes,
invisible characters, text from right to left, and markup inside of words.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from decimal import Decimal
from functools import lru_cache
from itertools import chain
from typing import Final

import regex

from evaluation.checks.segmentation import compile_phrase
from evaluation.patterns.regex import matches_pattern
from evaluation.texts.disguises import STROKE, read_disguised, read_rendered, spell_strokes
from evaluation.texts.normal import normalize_for_search, normalize_lines, unify_signs
from evaluation.texts.number_words import read_worded_numbers
from evaluation.texts.numbers import is_near, read_values
from evaluation.texts.statements import part_numbers, read_stated, remove_labels

_CACHED_TEXTS: Final = 16


def has_phrase(text: str, phrase: str, *, ignore_case: bool, whole_words: bool) -> bool:
    """Return whether a text has a phrase that is required; a number only if it is not part of another one.

    Both are compared in normal form (NFKC), with white space collapsed. Hyphens and quotation marks match
    their typographic forms, unless the phrase has no letter or digit.
    """
    stated, wanted = part_numbers(read_stated(text, phrase)), part_numbers(phrase)
    matches = _find_phrase(stated, wanted, ignore_case, whole_words, within_numbers=False)
    return next(matches, None) is not None


def shows_phrase(text: str, phrase: str, *, ignore_case: bool, whole_words: bool) -> bool:
    """Return whether a text has a phrase that is forbidden, or a disguise of it."""
    matches = (
        _find_phrase(reading, phrase, ignore_case, whole_words, within_numbers=True)
        for reading in _list_readings(text)
    )
    return next(chain.from_iterable(matches), None) is not None


def count_phrase(text: str, phrase: str, *, whole_words: bool) -> Iterator[int]:
    """Yield how often a text has a phrase, in any letter case, and then how often each disguise has."""
    for reading in dict.fromkeys((read_stated(text, phrase), *_list_readings(text))):
        matches = _find_phrase(
            reading, phrase, ignore_case=True, whole_words=whole_words, within_numbers=True
        )
        yield sum(1 for _ in matches)


def has_pattern(text: str, pattern: str) -> bool | None:
    """Return whether a required pattern matches a text, also in normal form; None if the text is too long."""
    stated = read_stated(text, pattern)
    forms = {stated, *_list_forms(part_numbers(stated))[1:]}
    return any_true({matches_pattern(pattern, form) for form in forms})


def shows_pattern(text: str, pattern: str) -> bool | None:
    """Return whether a forbidden pattern matches a text or a disguise; None if the text is too long."""
    forms = dict.fromkeys(form for reading in _list_readings(text) for form in _list_forms(reading))
    return any_true({matches_pattern(pattern, each) for form in forms for each in spell_strokes(form)})


def has_number(text: str, number: float, tolerance: float) -> bool:
    """Return whether a text states a required number, in any common notation or in words."""
    return _states_number(unify_signs(remove_labels(read_stated(text))), number, tolerance)


def shows_number(text: str, number: float, tolerance: float) -> bool:
    """Return whether a text or a disguise of it states a forbidden number."""
    readings = (each for reading in _list_readings(text) for each in spell_strokes(unify_signs(reading)))
    return any(_states_number(each, number, tolerance) for each in readings)


def _states_number(text: str, number: float, tolerance: float) -> bool:
    return any(is_near(value, number, tolerance) for value in _read_values(text))


# Cached, because each check of a run reads the same texts.
@lru_cache(_CACHED_TEXTS)
def _read_values(text: str) -> tuple[Decimal, ...]:
    return tuple(dict.fromkeys((*read_values(text), *read_worded_numbers(text))))


def any_true(answers: Collection[bool | None]) -> bool | None:
    """Return True if any answer is, else None if any is unknown."""
    # One text that matches decides, even if another one is too long to search.
    if True in answers:
        return True
    return None if None in answers else False


def negate(answer: bool | None) -> bool | None:
    """Return the opposite of an answer; None stays."""
    return None if answer is None else not answer


def _find_phrase(
    text: str, phrase: str, ignore_case: bool, whole_words: bool, *, within_numbers: bool
) -> Iterator[object]:
    # A phrase of a sign itself, such as a dash, means no other one.
    unify = any(map(str.isalnum, phrase))
    normal = normalize_for_search(phrase, ignore_case=ignore_case, unify=unify)
    if not normal:
        # Normalising removes invisible characters, so a phrase of one of them has no normal form.
        return regex.finditer(regex.escape(phrase), text)
    reading = normalize_for_search(text, ignore_case=ignore_case, unify=unify)
    pattern = compile_phrase(
        normal, whole_words=whole_words, within_numbers=within_numbers, strokes=STROKE in reading
    )
    return pattern.finditer(reading)


def _list_readings(text: str) -> Iterator[str]:
    for reading in dict.fromkeys((text, read_rendered(text))):
        yield reading
        yield from read_disguised(reading)


def _list_forms(text: str) -> list[str]:
    """List a text as it is and, if it differs, in normal form with the signs of ASCII; line breaks stay."""
    return list(dict.fromkeys([text, unify_signs(normalize_lines(text))]))
