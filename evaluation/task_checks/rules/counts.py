"""Numbers of things: "at most 50 words", "three sentences of ten words each", "no commas"."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import regex

from evaluation.task_checks.finding import Finding
from evaluation.task_checks.moods import is_demanded
from evaluation.task_checks.quantities import AFTER_NOUN, Bounds, Quantity, apply_after, find_quantities
from evaluation.task_checks.reading import Reading
from evaluation.task_checks.sentences import Sentence
from evaluation.task_checks.things import AFTER_NUMBER, BY_NAME, THING, Fields, Thing

_UNITS: Final = {
    "line": "line",
    "sentence": "sentence",
    "paragraph": "paragraph",
    "stanza": "paragraph",
    "verse": "paragraph",
    "bullet": "list_item",
    "bullet point": "list_item",
    "item": "list_item",
    "list item": "list_item",
    "point": "list_item",
}
_UNIT: Final = r"(?P<unit>line|sentence|paragraph|stanza|verse|bullet point|bullet|list item|item|point)s?"
_EACH_BEFORE: Final = regex.compile(
    r"\b(?:each|every|any|no|all|single)(?: of the| single| of these| of your)?(?: (?:two|three|"
    rf"four|five|six|seven|\d+))? {_UNIT}\b"
    r"(?! (?:and|or|in the) (?:each|every))[^.;]{0,60}$"
)
_EACH_AFTER: Final = regex.compile(
    rf"^,? ?(?:(?:in|for|on) (?:each|every)|per|a|each|(?:in )?(?:each|every)(?: of the)?)[ -]{_UNIT}\b"
)
_EACH: Final = regex.compile(
    r"^,? (?:each|apiece|per unit)\b(?! (?:separated|starting|beginning|ending|containing|having|"
    r"with|of|followed|about|on|describing|covering|label|mark|start|on|in|focus|explain))"
)
_OTHER_EACH: Final = regex.compile(
    r"\b(?:each|every)(?: of the)? (?!\ue000)(?:\w+ )?(?!word|letter)\w+\b[^.;,]{0,40}$|"
    r"^ ?(?:per|in (?:each|every)|a|each|for each|for every|every) (?:day|week|\w+)\b"
)
_ORDINAL: Final = (
    r"(?:first|second|third|fourth|fifth|sixth|last|final|opening|closing|middle|next|other|"
    r"remaining|\d+(?:st|nd|rd|th))"
)
_PART: Final = (
    r"(?:line|sentence|paragraph|section|part|stanza|verse|bullet|item|word|version|response|half|"
    r"chapter|one|letter|answer|row|column)s?"
)
_PART_BEFORE: Final = regex.compile(
    rf"\b(?:the|your|its|in|with|have|a) (?:{_ORDINAL}|\w+ )?{_ORDINAL} (?:\w+ )?{_PART}\b[^.;,]{{0,50}}$"
    r"|\b(?:the|each|its|your|every|a|an|short|brief|one)(?: short| brief| clear|"
    r" catchy)? (?:title|heading|headline|introduction|intro|conclusion|subject line|subject|"
    r"caption|"
    r"tagline|postscript|name|section|chapter|step|abstract(?= (?:of|with|should|must|that))|"
    r"header|closing|opening|footer|column|row|cell)\b[^.;,]{0,40}$"
    rf"|\b(?:paragraph|section|line|part|sentence) (?:\d+|one|two|three)\b[^.;,]{{0,40}}$"
)
_PART_AFTER: Final = regex.compile(
    rf"^ (?:in|for|of|as) (?:the|your|its|an?) (?:{_ORDINAL} {_PART}|(?:\w+ )?(?:title|heading|"
    r"headline|introduction|intro|conclusion|subject line|caption|header))\b"
)
_DEFINITE: Final = regex.compile(
    r"\b(?:these|those|this|following|above|his|her|their|original|previous|given|provided|"
    r"same)(?: \w+)? ?$|\b(?:the|my|our)(?: (?:first|last|top|following|above|same|next|previous|"
    r"other|original))? ?$|\b(?:of|from|in) the ?$"
)
_ARTICLE: Final = regex.compile(
    r"(?<!\w)(?P<number>an?|one|a single|just one|only one|exactly one|"
    r"one single)(?: [a-z-]+)?? (?P<noun>sentence|paragraph|word|line)\b(?![-'])(?! (?:count|"
    r"limit|cloud|processor|game|search|fragment|structure|starter|of the text|from|that (?:is|"
    r"was)|by |in the (?:text|article)|document|list|break|or (?:more|two)|or phrase|at a time|"
    r"problem))"
)
_BEFORE_ARTICLE: Final = regex.compile(
    r"(?:^|\b(?:in|with|using|into|as|to|of|write|compose|create|give me|give us|produce|"
    r"generate|draft|craft|answer|is|be|exactly|only|just|within|me|us)) ?$"
)
_NO: Final = (
    r"(?:no|without(?: using| any| the use of| including| having)*(?: any)?|zero|(?:avoid|"
    r"refrain from|free of|skip|omit|exclude|leave out|stay away from|steer clear of|"
    r"abstain from)(?: using| the use of| including| all| any| adding| having| writing| the)*"
    r"|(?:do not|don't|dont|never|must not|mustn't|should not|shouldn't|cannot|can't|may not|not|"
    r"n't|does not|doesn't|not to)(?: (?:use|include|contain|have|add|insert|put|employ|write|"
    r"give(?: me)?|present|make use of|provide|be|show|feature|rely on|format|ever|any|"
    r"even a single|a single|a|in|with|using|your \w+))*(?: any| a single| a| an)*"
    r"|not a single|not any|n't any)"
)
_FORBIDDEN: Final = regex.compile(
    rf"(?<!\w)(?P<no>{_NO}) (?:a |an |the )?(?:(?!word|letter|term|phrase)[a-z]+,? ){{0,1}}?{THING.pattern}"
)
_ALSO: Final = regex.compile(
    rf"(?:,? ?(?:and|or|nor|&)(?: (?:no|any|without(?: any)?))?|,)(?: the)? (?:any |no )?(?:{THING.pattern})"
)
_PASSIVE: Final = regex.compile(
    rf"(?<!\w)(?:{THING.pattern})(?: of any kind)? (?:(?:is|are|be|should|must|may|"
    r"can)(?: be)? )?(?:not (?:be )?(?:allowed|permitted|used|appear|be used|included|present|"
    r"be included|accepted)|forbidden|banned|prohibited|off limits|not to be used|"
    r"cannot be used)\b"
)
_BEFORE_NO: Final = regex.compile(
    r"\b(?:why|if|when|that|who|which|because|has|had|is|are|there (?:is|are))\b ?$"
)
_FORBIDDABLE: Final = frozenset(BY_NAME) - {
    "words",
    "sentences",
    "paragraphs",
    "stanzas",
    "lines",
    "characters",
    "items",
    "unique_words",
    "characters_without_spaces",
    "placeholders",
}


@dataclass(frozen=True, slots=True)
class _Count:
    quantity: Quantity
    match: regex.Match[str]
    thing: Thing
    bounds: Bounds
    end: int


def find_counts(sentence: Sentence, _: Reading) -> Iterator[Finding]:
    """Find the numbers of things that a sentence demands."""
    counts = list(_read_counts(sentence.text))
    for count, previous in zip(counts, [None, *counts], strict=False):
        if regex.search(r"\b(?:example|sample|new|blank|empty)\b", count.match.group()):
            continue
        if _is_about_given_text(sentence.text, count) or not is_demanded(
            sentence, count.quantity.start, count.end
        ):
            continue
        yield _build(sentence, count, previous)
    yield from _find_articles(sentence, counts)


def find_forbidden(sentence: Sentence, _: Reading) -> Iterator[Finding]:
    """Find the things that a sentence forbids: "without commas", "no lists or tables"."""
    for match in _FORBIDDEN.finditer(sentence.text):
        if not _is_forbidden(sentence, match) or _BEFORE_NO.search(sentence.text[: match.start()]):
            continue
        yield from _forbid(sentence, match, match.start())
        end = match.end()
        while also := _ALSO.match(sentence.text, end):
            yield from _forbid(sentence, also, match.start())
            end = also.end()
    for match in _PASSIVE.finditer(sentence.text):
        if is_demanded(sentence, match.start(), match.end()):
            yield from _forbid(sentence, match, match.start())


def _is_forbidden(sentence: Sentence, match: regex.Match[str]) -> bool:
    thing = match.start(_get_thing(match).name)
    return is_demanded(sentence, match.start(), match.end()) or is_demanded(sentence, thing, match.end())


def _forbid(sentence: Sentence, match: regex.Match[str], start: int) -> Iterator[Finding]:
    thing = _get_thing(match)
    if thing.name not in _FORBIDDABLE or regex.match(
        r" (?:to|in order to|for) ", sentence.text[match.end() :]
    ):
        return
    scoped = _PART_BEFORE.search(sentence.text[:start]) or _PART_AFTER.match(sentence.text[match.end() :])
    check = None if scoped else thing.build(Bounds(0, 0))
    yield Finding(sentence.start + start, sentence.start + match.end(), _bound_by_zero(check))


def _bound_by_zero(check: Fields | None) -> Fields | None:
    """Say "at most 0" for "exactly 0", which reads better in messages."""
    if check is None or "exactly" not in check:
        return check
    return {**{name: value for name, value in check.items() if name != "exactly"}, "max": 0}


def _get_thing(match: regex.Match[str]) -> Thing:
    return next(BY_NAME[name] for name, text in match.groupdict().items() if text and name in BY_NAME)


def _read_counts(text: str) -> Iterator[_Count]:
    quantities = list(find_quantities(text))
    for quantity, following in [*pairwise(quantities), *((last, None) for last in quantities[-1:])]:
        match = AFTER_NUMBER.match(text, quantity.end) or _match_shared_noun(text, quantity, following)
        if match:
            after = AFTER_NOUN.match(text, match.end())
            end = after.end() if after else match.end()
            yield _Count(quantity, match, _get_thing(match), apply_after(quantity.bounds, after), end)


def _match_shared_noun(text: str, quantity: Quantity, following: Quantity | None) -> regex.Match[str] | None:
    """Read the noun that two quantities share: "at least 10 and at most 20 words"."""
    if following is None or not regex.fullmatch(r",? ?(?:and|but)? ?", text[quantity.end : following.start]):
        return None
    return AFTER_NUMBER.match(text, following.end)


def _is_about_given_text(text: str, count: _Count) -> bool:
    if count.bounds.is_stated and count.bounds.least != count.bounds.most:
        return False
    return bool(_DEFINITE.search(text[: count.quantity.start]))


def _build(sentence: Sentence, count: _Count, previous: _Count | None) -> Finding:
    start, end = sentence.start + count.quantity.start, sentence.start + count.end
    before, after = sentence.text[: count.quantity.start], sentence.text[count.end :]
    unit, length = _find_unit(before, after, previous, count)
    if unit == "other" or (not unit and (_PART_BEFORE.search(before) or _PART_AFTER.match(after))):
        return Finding(start, end)
    check = count.thing.build(count.bounds)
    if check is None or (unit and not count.thing.can_repeat):
        return Finding(start, end)
    return Finding(start, end + length, {**check, **({"each": unit} if unit else {})})


def _find_unit(before: str, after: str, previous: _Count | None, count: _Count) -> tuple[str, int]:
    """Find the unit that the number holds for, and the length of the words after it that say so."""
    if match := _EACH_AFTER.match(after):
        return _UNITS[match["unit"]], match.end()
    if match := _EACH_BEFORE.search(before):
        unit = _UNITS[match["unit"]]
        return ("" if unit == "list_item" and count.thing.name == "bullets" else unit), 0
    if (match := _EACH.match(after)) and previous:
        units = {"lines": "line", "sentences": "sentence", "paragraphs": "paragraph", "stanzas": "paragraph"}
        return units.get(
            previous.thing.name, "list_item" if "item" in previous.thing.name else "other"
        ), match.end()
    return ("other" if _OTHER_EACH.search(before) or _EACH.match(after) else ""), 0


def _find_articles(sentence: Sentence, counts: list[_Count]) -> Iterator[Finding]:
    """Find a single sentence, paragraph, line or word as the whole output: "Answer in one sentence"."""
    taken = {count.match.start() for count in counts}
    for match in _ARTICLE.finditer(sentence.text):
        before = sentence.text[: match.start()]
        if taken & set(range(match.start(), match.end())) or not _BEFORE_ARTICLE.search(before):
            continue
        if match["number"] in {"a", "an"} and match["noun"] in {"word", "line"}:
            continue
        if is_demanded(sentence, match.start(), match.end()) and not _PART_BEFORE.search(before):
            thing = BY_NAME[f"{match['noun']}s"]
            yield Finding(
                sentence.start + match.start(), sentence.start + match.end(), thing.build(Bounds(1, 1))
            )
