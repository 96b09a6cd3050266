"""How often things occur: "use question marks twice", "the number of sentences should be at least 4"."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import regex

from evaluation.task_checks.demands.moods import is_demanded, is_statement
from evaluation.task_checks.quantities import NUMBER, Bounds, Quantity, find_quantities
from evaluation.task_checks.reading import Reading
from evaluation.task_checks.rules.amounts.units import OTHER_EACH, PART_BEFORE
from evaluation.task_checks.rules.finding import Finding
from evaluation.task_checks.sentences import Sentence
from evaluation.task_checks.things import AFTER_NUMBER, BY_NAME, THING, get_thing

_TIMES_WORDS: Final = regex.compile(r"\b(?:once|twice|thrice)\b")
_APPEAR: Final = (
    r"(?: (?:in|throughout) (?:your|the) (?:\w+ ){0,2}?\w+)?"
    r"(?: (?:should|must|shall|may|can|has to|have to|needs? to|ought to|will)(?: (?:only|not))?)?"
    r"(?: (?:appear(?:s|ing)?|occur(?:s|ring)?|show(?:s|ing)? up|be used|be present|be included|"
    r"be found|used))?"
    r"(?: in (?:your|the) (?:\w+ ){0,2}?\w+)?"
)
_TIMES: Final = regex.compile(
    rf"^(?: \([^()]{{0,80}}\))?,?{_APPEAR} (?P<times>(?:(?:at (?:least|most)|exactly|no (?:more|"
    r"less|fewer) than|"
    r"not (?:more|less) than|more than"
    r"|less than|fewer than|only|up to|a maximum of|a minimum of) )?(?:once|twice|thrice|"
    rf"{NUMBER}(?: or more| or fewer)? times?)"
    r"(?: or (?:more|less|fewer))?)(?!\w)"
)
_SAYS_TIMES: Final = regex.compile(r"\b(?:times?|once|twice|thrice)\b")
_NOT_REPEATED: Final = frozenset(
    {"words", "sentences", "lines", "paragraphs", "characters", "capitals", "smalls", "spaces", "lists"}
)
_NUMBER_OF: Final = regex.compile(
    r"\b(?:(?:total |overall )?(?:number|frequency|count|amount|quantity|(?P<use>use|usage|"
    r"occurrences?)) of (?:the |such |"
    rf"all )?(?:{THING.pattern})"
    r"|(?P<short>word|sentence|line|paragraph|character|bullet|placeholder)[ -](?:count|limit|"
    r"total|number|budget|cap|ceiling|target))(?!\w)"
)
_LIMITS: Final = regex.compile(r"\b(?:limit|cap|restrict|reduce)(?:ed|s|ing)?\b")
_LONGEST_GAP: Final = 50
_EACH: Final = regex.compile(r"\b(?:each|every|per)\b")


def find_frequencies(sentence: Sentence, _: Reading) -> Iterator[Finding]:
    """Find how often a thing has to occur."""
    if not _SAYS_TIMES.search(sentence.text):
        return
    for match in THING.finditer(sentence.text):
        times, thing = _TIMES.match(sentence.text[match.end() :]), get_thing(match)
        if times is None or thing.name in _NOT_REPEATED:
            continue
        if not (is_demanded(sentence, match.start(), match.end()) or is_statement(sentence, match.start())):
            continue
        quantity = next(iter(find_quantities(_TIMES_WORDS.sub(_spell_times, times["times"]))), None)
        if quantity:
            end = sentence.start + match.end() + times.end()
            yield Finding(sentence.start + match.start(), end, thing.build(quantity.bounds))


def find_numbers(sentence: Sentence, _: Reading) -> Iterator[Finding]:
    """Find the number of things that a sentence states with the word "number" or "count"."""
    for match in _NUMBER_OF.finditer(sentence.text):
        quantity = _find_bound(sentence.text, match)
        if match["use"] and not (
            _LIMITS.search(sentence.text, 0, match.start()) and get_thing(match).name not in _NOT_REPEATED
        ):
            continue
        if quantity is None or not is_demanded(sentence, quantity.start, quantity.end):
            continue
        before = sentence.text[: match.start()]
        thing = BY_NAME[f"{match['short']}s"] if match["short"] else get_thing(match)
        start, end = sentence.start + match.start(), sentence.start + quantity.end
        is_part = _EACH.search(sentence.text, match.end(), quantity.start) or OTHER_EACH.search(before)
        is_part = is_part or PART_BEFORE.search(before)
        yield Finding(start, end, None if is_part else thing.build(_limit(before, quantity.bounds)))


def _limit(before: str, bounds: Bounds) -> Bounds:
    """Read "limit the number to three" as at most three."""
    return Bounds(None, bounds.most) if _LIMITS.search(before) and not bounds.is_stated else bounds


def _find_bound(text: str, match: regex.Match[str]) -> Quantity | None:
    for quantity in find_quantities(text):
        if match.end() <= quantity.start <= match.end() + _LONGEST_GAP:
            return None if AFTER_NUMBER.match(text, quantity.end) else quantity
    return None


def _spell_times(match: regex.Match[str]) -> str:
    return {"once": "1 time", "twice": "2 times", "thrice": "3 times"}[match.group()]
