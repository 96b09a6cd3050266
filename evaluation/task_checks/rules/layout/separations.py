"""Parts with separators between them: their number, and the separator."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import regex

from evaluation.task_checks.demands.moods import is_demanded, is_statement
from evaluation.task_checks.marks import SEPARATOR
from evaluation.task_checks.quantities import NUMBER, find_quantities, read_number
from evaluation.task_checks.reading import Reading
from evaluation.task_checks.rules.finding import Finding
from evaluation.task_checks.sentences import Sentence
from evaluation.task_checks.things import Fields

_SIGNS: Final = {
    "asterisk": "*",
    "star": "*",
    "dash": "-",
    "hyphen": "-",
    "equal": "=",
    "equals": "=",
    "underscore": "_",
    "hash": "#",
    "pound": "#",
    "tilde": "~",
    "plus": "+",
}
_SPELLED: Final = (
    rf"(?P<number>{NUMBER}) (?P<sign>asterisk|star|dash|hyphen|equals?|underscore|hash|pound|tilde|"
    r"plus)(?:e?s)?(?: (?:symbols?|signs?|marks?|characters?))?"
)
_SPELLED_SIGN: Final = regex.compile(_SPELLED)
_LONGEST_SEPARATOR: Final = 50
_DIVIDES: Final = regex.compile(
    r"\b(?:separat\w*|divid\w*|split\w*|delimit\w*|between|following|followed by|broken|break\w*|mark\w*)\b"
)
_SEPARATION: Final = regex.compile(
    r"\b(?:separat\w*|divid\w*|split\w*|delimit\w*|put|place|use|insert|following|followed by|"
    rf"break)\b[^.;]{{0,90}}?(?:\(?(?P<mark>{SEPARATOR})\)?|(?P<spelled>{_SPELLED}))"
    rf"|(?:(?P<mark>{SEPARATOR})|(?P<spelled>{_SPELLED}))[^.;]{{0,20}}\b(?:between|to separate|separating|"
    rf"dividing|"
    r"as (?:a |the )?(?:separator|divider|delimiter))\b"
)
_PARTS: Final = (
    r"(?:responses?|answers?|replies|versions?|alternatives?|parts?|paragraphs?|sections?|jokes?|"
    r"poems?|options?|outputs?|names|stories|texts?|variants?|examples?|solutions?|snippets?|"
    r"summaries|suggestions?|ideas?|drafts?|slogans?|riddles?|translations?|letters?|emails?|"
    r"recipes?|descriptions?|essays?|pieces?|blocks?|takes?|tweets?|haikus?|limericks?|[a-z]+s)"
)
_NUMBER_OF_PARTS: Final = regex.compile(
    rf"(?P<low>{NUMBER}) (?:(?:(?!and\b|or\b|of\b|to\b)[a-z'-]+ ){{0,3}}?{_PARTS}|of (?:them|these|those))\b"
)
_NO_PARTS: Final = regex.compile(
    r"\b(?:asterisk|star|dash|hyphen|line|symbol|word|sentence|week|hour|day|year|minute|gallon|dollar|time)"
)
_BETWEEN: Final = regex.compile(
    r"\b(?:between|separat\w+|divid\w+)(?: the| each| all| these)* (?P<noun>[a-z]{3,}s)\b"
)
"""The parts by their name: "a line of three dashes between the questions"."""
_BOTH: Final = regex.compile(
    r"\b(?:both|the two|two|each other|a pair)\b|(?<!\b(?:about|on|of|between|in) )"
    r"\b(?:the|your|an?) [a-z\d ]{2,40},? (?:and|from) (?:the|your|an?) [a-z\d]+|"
    r"\bfirst\b.{0,200}\b(?:then|second)\b|"
    r"\b[a-z]+ and [a-z]+ (?:code |)(?:snippets|versions|parts|answers)"
)
_PARTS_ARE: Final = regex.compile(
    r"(?:^|[,;] )(?:the |your |both |all |these )?(?:two |"
    rf"\w+ )?{_PARTS}(?: and only \w+)? (?:are|is|will be|to be) \w+"
)
_SHOWS: Final = regex.compile(
    r"\b(?:(?:following|exact|this|the|below) (?:the |this )?(?:following )?(?:format|form|"
    r"pattern|structure|template|layout)"
    r"|look like|like this|such as|example)\b[^.;]{0,20}:?$"
)
_EXAMPLE: Final = regex.compile(
    r"\b(?:like(?: this| so)?|such as|e\.g\.|i\.e\.|(?:for|as an|zum) (?:example|instance|beispiel)|z\.b\.|"
    r"as follows|(?:so|thus|namely|example)(?= ?:)|(?:this|the following) (?:format|form|pattern|"
    r"layout))(?!\w)"
)
"""Words before an illustration of the format."""
_WHOLE_FORM: Final = regex.compile(
    r"\b(?:your|the) (?:entire |whole |final )?(?:response|answer|output|reply) (?:should|must|has to|"
    r"needs to) (?:look|be|have|follow)\b"
)
_FOLLOWING: Final = regex.compile(rf", (?:following|after|preceded by) [^.;]{{0,30}}{SEPARATOR}")
"""Words that put the separator once, before the last part."""
_ANY_NUMBER: Final = regex.compile(rf"(?<![\w.]){NUMBER}(?![\w.])")
_NEAR_FORM: Final = 120
_LONGEST_BEFORE: Final = 500
_LONGEST_PATTERN: Final = 600
_LONGEST_LINE: Final = 80


def find_separated(sentence: Sentence, reading: Reading) -> Iterator[Finding]:
    """Find the number of parts and the separator between them."""
    if not _DIVIDES.search(sentence.text):
        return
    for match in _SEPARATION.finditer(sentence.text):
        if not _is_separation_demanded(sentence, match):
            continue
        separator = _read_separator(sentence, reading, match)
        number = _count_parts(sentence, reading, match, separator)
        if not separator:
            continue
        start, end = sentence.start + match.start(), sentence.start + match.end()
        fields: Fields = {"check": "part_count", "separator": separator}
        if number is None:
            yield Finding(start, end, {**fields, "min": 2})
            continue
        yield Finding(start, end, {**fields, "exactly": number})
        return


def find_shown_parts(sentence: Sentence, reading: Reading) -> Iterator[Finding]:
    """Find the number of parts in a pattern that the task shows, with separators between its lines."""
    match = _SHOWS.search(sentence.text)
    if not match or not is_demanded(sentence, match.start(), match.end()):
        return
    end = sentence.start + len(sentence.text)
    shown = reading.text[end : end + _LONGEST_PATTERN]
    lines = [line.strip() for line in shown.split("\n")]
    separators = [place for place, line in enumerate(lines) if line == SEPARATOR]
    if separators and _has_short_lines(lines[: separators[-1]]):
        marks = [mark for mark in reading.get_marks(end, end + len(shown)) if mark.character == SEPARATOR]
        start = sentence.start + match.start()
        number = _find_stated(sentence, reading, marks[0].content)
        fields: Fields = {"check": "part_count", "separator": marks[0].content}
        bounds: Fields = {"min": 2} if number is None else {"exactly": number}
        yield Finding(start, sentence.start + match.end(), {**fields, **bounds})


def _has_short_lines(lines: list[str]) -> bool:
    return all(len(line) <= _LONGEST_LINE for line in lines)


def _is_separation_demanded(sentence: Sentence, match: regex.Match[str]) -> bool:
    verb = match.start() + len(match.group().split()[0])
    if is_demanded(sentence, match.start(), match.end()) or is_demanded(sentence, verb, match.end()):
        return True
    if _PARTS_ARE.search(sentence.text[: match.end()]) and is_statement(sentence, match.start()):
        return True
    # "3 paragraphs separated by ***": the number before decides.
    before = [quantity for quantity in find_quantities(sentence.text) if quantity.end <= match.start()]
    return bool(before) and is_demanded(sentence, before[-1].start, before[-1].end)


def _read_separator(sentence: Sentence, reading: Reading, match: regex.Match[str]) -> str:
    spelled = _SPELLED_SIGN.search(match.group())
    if spelled:
        return _SIGNS[spelled["sign"]] * min(read_number(spelled["number"]) or 0, _LONGEST_SEPARATOR)
    place = sentence.text.find(SEPARATOR, match.start(), match.end() + 12)
    return reading.marks[sentence.start + place].content if place >= 0 else ""


def _count_parts(sentence: Sentence, reading: Reading, match: regex.Match[str], separator: str) -> int | None:
    """Read the number of parts that the task states; an example of the format states none."""
    example = _EXAMPLE.search(sentence.text)
    end = example.start() if example else len(sentence.text)
    before = reading.text[max(0, sentence.start - _LONGEST_BEFORE) : sentence.start + match.start()]
    if (between := _BETWEEN.search(sentence.text, match.start())) and (
        named := regex.findall(rf"({NUMBER}) (?:[a-z-]+ )?{between['noun']}\b", before)
    ):
        return read_number(named[-1])
    own = _find_number(sentence.text[: min(end, match.end())])
    if own is None:
        own = _find_number(sentence.text[match.end() : end])
    return own or _find_stated(sentence, reading, separator, end)


def _find_stated(sentence: Sentence, reading: Reading, separator: str, end: int | None = None) -> int | None:
    """Find the number of parts in the sentences before, or "both" there or in this sentence."""
    own = sentence.text[:end]
    before = reading.text[max(0, sentence.start - _LONGEST_BEFORE) : sentence.start]
    number = _find_number(own)
    if number is None and (_BOTH.search(own) or _FOLLOWING.search(own)):
        return 2
    number = number or _find_number(before)
    return (
        number or _count_form(sentence, reading, separator, before) or (2 if _BOTH.search(before) else None)
    )


def _count_form(sentence: Sentence, reading: Reading, separator: str, before: str) -> int | None:
    """Count the parts of a form that is the whole output, or that has as many parts as a number says."""
    end = sentence.start + len(sentence.text)
    marks = reading.get_marks(end, min(end + _LONGEST_PATTERN, len(reading.text)))
    shown = [mark for mark in marks if mark.character == SEPARATOR and mark.content == separator]
    following = reading.text[end : end + _NEAR_FORM]
    is_whole = _WHOLE_FORM.search(f"{sentence.text}{following}") is not None
    values = {read_number(number.group()) for number in _ANY_NUMBER.finditer(f"{before}{sentence.text}")}
    number = len(shown) + 1
    return number if shown and (is_whole or number in values) else None


def _find_number(text: str) -> int | None:
    numbers = [match for match in _NUMBER_OF_PARTS.finditer(text) if not _NO_PARTS.search(match.group())]
    values = [read_number(match["low"]) for match in numbers]
    return next((value for value in reversed(values) if value and value > 1), None)
