"""The first or last word of one paragraph, line or sentence."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import regex

from evaluation.task_checks.marks import QUOTED
from evaluation.task_checks.quantities import NUMBER, read_number
from evaluation.task_checks.reading import Reading
from evaluation.task_checks.rules.finding import Finding
from evaluation.task_checks.rules.layout.exact_words import EXACT, UNITS, is_free
from evaluation.task_checks.sentences import Sentence

_NTH: Final = (
    r"(?:(?P<ordinal>first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|last|final|"
    r"\d+(?:st|nd|rd|th)) (?:(?P<nth_unit>paragraph|line|sentence|stanza|one)\b|(?=of (?:which|them|"
    r"these)\b|(?:start|begin|open|end|finish)))|(?P<unit_first>paragraph|line|"
    r"sentence) (?:number )?(?P<nth>\d+|one|two|three|four|five|six))"
)
_NTH_STARTS: Final = regex.compile(
    rf"\b(?:the )?{_NTH}(?:(?! and )[^.;]){{0,30}}?\b(?P<side>start|begin|open|end|finish)(?:s|ning|ing|"
    rf"ting)? with{EXACT}(?:{QUOTED}|(?P<bare>[a-z][a-z'-]*))"
    rf"|\b(?:the )?(?P<ordinal>second|third|fourth|fifth|last)(?: (?P<nth_unit>paragraph|line|sentence|"
    rf"stanza))? with{EXACT}{QUOTED} (?P<side>start|begin|open|end|finish)(?:s|ning|ing|ting)?\b"
    r"|\b(?P<side>start|begin|open|end|finish)(?:s|ning|ing|"
    rf"ting)? (?:the )?{_NTH} with{EXACT}(?:{QUOTED}|(?P<bare>[a-z][a-z'-]*))"
)
_NTH_WORD: Final = regex.compile(
    rf"\b(?P<side>first|last) word (?:of|in) (?:the )?{_NTH} (?:(?:should|must|shall|has to|have to|needs to|"
    rf"is to) be|is|being|be){EXACT}(?:{QUOTED}|(?P<bare>[a-z][a-z'-]*))"
    rf"|{QUOTED} (?:(?:should|must|shall|has to|needs to) be |be |is |as )?(?:the )?(?P<side>first|"
    rf"last) word "
    rf"(?:of|in) (?:the )?{_NTH}"
    rf"|\b(?:in|for) (?:the )?{_NTH},? (?:the )?(?P<side>first|last) word (?:should|must|shall|has to|"
    rf"needs to)"
    rf" be{EXACT}{QUOTED}"
)
_COUNTED_UNIT: Final = regex.compile(r"\b(paragraph|line|sentence|stanza)s\b")
_NUMBER_OF_UNITS: Final = regex.compile(rf"\b({NUMBER}) (?:[a-z]+ )?(?:paragraphs|lines|sentences|stanzas)\b")
_KIND_OF_WORD: Final = regex.compile(r"\bwith (?:an?|one|your|some|any|another|its|their)\b")
_LONGEST_SEARCH: Final = 300
_ORDINALS: Final = {
    name: number
    for number, name in enumerate(
        ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"], 1
    )
}


def find_places(sentence: Sentence, reading: Reading) -> Iterator[Finding]:
    """Find the first or last word of one paragraph, line or sentence."""
    for match in [*_NTH_STARTS.finditer(sentence.text), *_NTH_WORD.finditer(sentence.text)]:
        if not is_free(sentence, match):
            continue
        word = _read_word(sentence, reading, match)
        before = reading.text[max(0, sentence.start - _LONGEST_SEARCH) : sentence.start + match.start()]
        unit = _find_unit(before, match)
        number = _read_ordinal(match, before)
        start, end = sentence.start + match.start(), sentence.start + match.end()
        if number is None or unit is None or (match["bare"] and _KIND_OF_WORD.search(match.group())):
            yield Finding(start, end)
            continue
        position = 1 if match["side"] in {"start", "begin", "open", "first"} else -1
        yield Finding(
            start,
            end,
            {"check": "word_at", "word": word, "position": position, "unit": UNITS[unit], "number": number},
        )


def _find_unit(text: str, match: regex.Match[str]) -> str | None:
    """Return the unit; of "the first one" and "the last of which", the unit that was counted before."""
    if match["unit_first"] or match["nth_unit"] not in {None, "one"}:
        return match["nth_unit"] or match["unit_first"]
    before = _COUNTED_UNIT.findall(text)
    return str(before[-1]) if before else None


def _read_word(sentence: Sentence, reading: Reading, match: regex.Match[str]) -> str:
    if match["bare"]:
        return reading.quote(sentence.start + match.start("bare"), sentence.start + match.end("bare"))
    marks = reading.get_marks(sentence.start + match.start(), sentence.start + match.end())
    return marks[-1].content.strip().rstrip(".,")


def _read_ordinal(match: regex.Match[str], before: str) -> int | None:
    if match["nth"]:
        return read_number(match["nth"])
    if match["ordinal"] in {"last", "final"}:
        numbers = _NUMBER_OF_UNITS.findall(before)
        return read_number(numbers[-1]) if numbers else None
    digits = regex.match(r"\d+", match["ordinal"])
    return int(digits.group()) if digits else _ORDINALS.get(match["ordinal"])
