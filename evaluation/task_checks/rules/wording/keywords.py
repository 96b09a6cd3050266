"""Words and letters that the output has to have, may not have, or has a number of times."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import regex

from evaluation.task_checks.demands.moods import can_demand, is_demanded
from evaluation.task_checks.demands.reach import is_reported
from evaluation.task_checks.language.words import PRODUCING, REQUIRING
from evaluation.task_checks.marks import QUOTED, Mark
from evaluation.task_checks.quantities import NUMBER, Bounds, read_number
from evaluation.task_checks.reading import Reading
from evaluation.task_checks.rules.finding import Finding
from evaluation.task_checks.rules.wording.occurrences import (
    APPEARS,
    is_negated,
    read_times,
    states_appearance,
)
from evaluation.task_checks.rules.wording.word_lists import find_word_lists
from evaluation.task_checks.sentences import Sentence
from evaluation.task_checks.things import Fields

_NAMELESS: Final = regex.compile(
    r"\b(?:text|names?|verbs?|nouns?|adjectives?|strings?|"
    r"hash ?-?tags?|links?|urls?|\w*sites?|address\w*|e-?mail)\b"
)
"""Nouns after which only quoted words are meant."""
_PLACE: Final = regex.compile(
    r"\b(?:start|begin|end|finish|conclude|close|open)(?:s|ing|ning)?\b|\b(?:title|heading|"
    r"headline|first|last|second|third|final|opening|closing|each (?!appear|occur|be|show)|every|"
    r"beginning|start|"
    r"subject line|introduction|conclusion|before|after)\b"
)
_CLAUSE_END: Final = regex.compile(
    rf"[.;:]|, | and (?=(?:also |then |please )?(?:(?:{REQUIRING}|{PRODUCING})(?:e?s)?|not|it|you|has|"
    rf"must|should)\b)"
)
_AT_EDGE: Final = regex.compile(r"\b(?:start|begin|end)")
_EDGE: Final = regex.compile(r"\b(?:first|last|finish|title)")
_SENTENCE_PLACE: Final = regex.compile(r"\b(?:first|1st) sentence\b")
_ANY: Final = regex.compile(r"\b(?:any|either|one|at least one)\b")
_SOME: Final = regex.compile(rf"\b(?P<number>{NUMBER}) (?:of|out of)\b")
_VAGUE: Final = frozenset(
    {"with", "without", "has", "have", "having", "no", "repeat", "repeating", "put", "add"}
)
_HAS_NO: Final = regex.compile(r"(?:\b(?:be|use|contain|have|include|and)|^(?:please)?|[,;:]) ?no $")
_ENDS: Final = regex.compile(r"^ ?(?:$|[,.;:!)]|(?:and|or|nor|but|please|anywhere|at all)\b)")
_SPEAKING: Final = frozenset({"say", "saying", "write", "writing"})
_LETTER_BEFORE: Final = regex.compile(r"\b(?:letters?|characters?|vowels?|consonants?) (?:the )?$")
_BROKEN_OFF: Final = regex.compile(
    r"\(| (?:at(?! (?:least|most|the))|on|of(?! (?:your|the text))|the|"
    r"an?|by)\b"
)
"""Words after unquoted words that belong to the same literal: its end is not known."""
_VERB_NAMED: Final = regex.compile(r"\bverbs?\b")
"""Words that take other forms: 'sentences with the verb "go"'."""
_WISHED: Final = regex.compile(
    rf"^(?:the )?(?P<noun>key ?-?words?|words?|terms?|phrases?) (?P<quotes>{QUOTED}(?:(?:, ?(?:and )?| and )"
    rf"{QUOTED})*)(?P<bare>(?!))?$"
)
"""An item of a list of wishes: 'I'd like: - the keywords "sun" and "sea"'."""
_WISHES: Final = regex.compile(
    r"(?<!\bnot |n't )\b(?:like|want|need|includ(?:e|es|ing)|contain|must have|have|mention|use|about) ?:"
    r"(?:\s*\n[^\n:]{1,200}){0,6}\s*\n\s*$"
)
_LONGEST_LIST: Final = 500
_FORMAT: Final = regex.compile(r"^\W*$|^(?:section|paragraph|p\.p?\.?s|part)\b", regex.I)


def find_keywords(sentence: Sentence, reading: Reading) -> Iterator[Finding]:
    """Find the words that a sentence requires or forbids."""
    taken: list[tuple[int, int]] = []
    for match in (*find_word_lists(sentence.text), *_find_wished(sentence, reading)):
        start, end = match.span("quotes" if match["quotes"] else "bare")
        is_taken = any(first < end and start < last for first, last in taken)
        if is_taken or _LETTER_BEFORE.search(sentence.text, 0, match.start()):
            continue
        texts = _read_texts(sentence, reading, match)
        if not texts:
            continue
        findings = _build(sentence, match, texts)
        taken += [(start, end)] if findings else []
        yield from findings


def _find_wished(sentence: Sentence, reading: Reading) -> Iterator[regex.Match[str]]:
    """Find the words that an item of a list of wishes names."""
    match = _WISHED.match(sentence.text) if QUOTED in sentence.text else None
    if match and _WISHES.search(reading.text, max(0, sentence.start - _LONGEST_LIST), sentence.start):
        yield match


def _read_texts(sentence: Sentence, reading: Reading, match: regex.Match[str]) -> list[str]:
    if match["quotes"]:
        start = sentence.start + match.start("quotes")
        marks = reading.get_marks(start, sentence.start + match.end("quotes"))
        texts = [_clean(mark, len(marks)) for mark in marks if mark.character == QUOTED]
        return [text for text in texts if not _FORMAT.match(text)] if all(texts) else []
    if _NAMELESS.search((match["noun"] or "").split(" in ")[0]):
        return []
    place = sentence.start + match.start("bare")
    text = reading.quote(place, sentence.start + match.end("bare"))
    return [
        part
        for part in regex.split(r",\s*(?:(?:and|or|und|oder)\s+)?|\s+(?:and|or|und|oder)\s+", text)
        if part.strip()
    ]


def _clean(mark: Mark, number: int) -> str:
    """Drop the comma that American English puts inside of quotation marks."""
    text = mark.content.strip()
    return text.rstrip(",.;") if text.endswith((",", ";")) or (number > 1 and text.endswith(".")) else text


def _build(sentence: Sentence, match: regex.Match[str], texts: list[str]) -> list[Finding]:
    before, after = sentence.text[: match.start()], sentence.text[match.end() :]
    lead = before + (match.groupdict().get("verb") or "") + " "
    if not _is_required(sentence, match, lead, after):
        return []
    start, end = sentence.start + match.start(), sentence.start + match.end()
    near = f"{_CLAUSE_END.split(lead)[-1][-30:]} {_CLAUSE_END.split(after)[0][:40]}"
    bounds, length = read_times(lead, after)
    negated = is_negated(_join_lead(lead, match), after)
    is_inflected = not negated and _VERB_NAMED.search(match["noun"] or "")
    if is_inflected or (match["bare"] and _BROKEN_OFF.match(after)):
        return [Finding(start, end)]
    if _PLACE.search(near) and not _PLACE.search(match.group()):
        return _build_at_place(sentence, match, texts, near, negated=negated)
    if negated and bounds is None:
        return [Finding(start, end, {"check": "excludes", "texts": texts})]
    if bounds is None or bounds == Bounds(1, None):
        return [Finding(start, end + length, _build_contains(sentence, match, texts))]
    fields: Fields = {"check": "occurrences", "whole_words": False, **bounds.to_fields()}
    return [Finding(start, end + length, {**fields, "text": text}) for text in texts]


def _join_lead(lead: str, match: regex.Match[str]) -> str:
    """Join the words before a list in which a negation may stand: "words to avoid: ..."."""
    return f"{lead}{match['noun'] or ''}{match.groupdict().get('modal') or ''}".replace(":", " ")


def _build_at_place(
    sentence: Sentence, match: regex.Match[str], texts: list[str], near: str, *, negated: bool
) -> list[Finding]:
    start, end = sentence.start + match.start(), sentence.start + match.end()
    if _SENTENCE_PLACE.search(near) and not negated and not _AT_EDGE.search(near):
        fields: Fields = {"check": "contains", "texts": texts, "sentence": 1, "whole_words": False}
        return [Finding(start, end, fields)]
    # The rules for the start and the end of texts read these.
    return [] if _AT_EDGE.search(near) or _EDGE.search(near) else [Finding(start, end)]


def _build_contains(sentence: Sentence, match: regex.Match[str], texts: list[str]) -> Fields:
    number = _read_enough(sentence.text[max(0, match.start() - 20) : match.end()], len(texts))
    fields: Fields = {"check": "contains", "texts": texts, "whole_words": False}
    return {**fields, "at_least": number} if number else fields


def _read_enough(words: str, number: int) -> int | None:
    """Read how many of the words are enough: "any of", "at least two of"."""
    if some := _SOME.search(words):
        return read_number(some["number"])
    is_choice = _ANY.search(words) or regex.search(rf"{QUOTED},? or (?:the word )?{QUOTED}", words)
    return 1 if is_choice and number > 1 else None


def _is_required(sentence: Sentence, match: regex.Match[str], before: str, after: str) -> bool:
    groups = match.re.groupindex
    if "modal" in groups:
        return states_appearance(sentence, before, match["modal"])
    if "verb" in groups:
        if match["verb"] == "without" and match["noun"] and can_demand(sentence):
            return not is_reported(sentence.text, match.start())
        place = match.end("verb") + 1
        return not _is_vague(match, before, after) and (
            is_demanded(sentence, place, match.end()) or is_demanded(sentence, match.start(), match.end())
        )
    if APPEARS.match(after):
        return states_appearance(sentence, before, after)
    return is_demanded(sentence, match.start(), match.end())


def _is_vague(match: regex.Match[str], before: str, after: str) -> bool:
    """Check for a verb after which a quoted text alone is no word to use: a title "X", say "X"."""
    verb = match["verb"]
    if (
        match["noun"] is not None
        or (_HAS_NO.search(before) and _ENDS.match(after))
        or (verb in _SPEAKING and read_times("", after)[0] is not None)
    ):
        return False
    return verb in _VAGUE or (verb in _SPEAKING and not is_negated(before, ""))
