"""Numbers of things: "at most 50 words", "three sentences of ten words each", "no commas"."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import regex

from evaluation.task_checks.moods import is_demanded
from evaluation.task_checks.quantities import (
    AFTER_NOUN,
    Bounds,
    Quantity,
    apply_after,
    find_quantities,
)
from evaluation.task_checks.reading import Reading
from evaluation.task_checks.rules.finding import Finding
from evaluation.task_checks.sentences import Sentence
from evaluation.task_checks.things import AFTER_NUMBER, BY_NAME, THING, Thing, get_thing

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
    r"\b(?:each|every|any|no|all|none)(?: of the| single| of these| of your)?(?: (?:two|three|"
    rf"four|five|six|seven|\d+))? {_UNIT}\b"
    r"(?! (?:and|or|in the) (?:each|every))(?:(?! and (?:the|it|there|your|must|have|use|"
    r"include)\b)[^.;]){0,60}$"
)
_EACH_AFTER: Final = regex.compile(
    rf"^,? ?(?:(?:in|for|on) (?:each|every)|per|a|each|(?:in )?(?:each|every)(?: of the)?)[ -]{_UNIT}\b"
)
_OF_THEM: Final = regex.compile(r"^ (?:of (?:them|these|those|each)|such)\b")
_EACH: Final = regex.compile(
    r"^,? (?:each|apiece|per unit)\b(?! (?:separated|starting|beginning|ending|containing|having|"
    r"with|of|followed|about|on|describing|covering|label|mark|start|on|in|focus|explain))"
)
_EACH_OF_THEM: Final = regex.compile(
    r"\b(?:each|none(?= of))(?: one)?(?: of (?:them|these|which))?(?: (?:with|having|containing|of|using|"
    r"being|at|has|have|is|should|must|contain|be|consisting))* ?$"
)
_OF: Final = regex.compile(r" of ?")
_SINGLE: Final = regex.compile(r"\b(?:without|not|no|n't|never|avoid)(?: \w+)? ?$")
_EXAMPLE: Final = regex.compile(r"\b(?:example|sample|new|blank|empty)\b")
_PICKS: Final = regex.compile(
    r"\b(?:highlight|bold|bolden|itali\w+|emphasi\w+|underline|capitali\w+|mark|define|explain|"
    r"choose|pick)(?: up to)? ?$"
)
_JOINS: Final = regex.compile(r",? ?(?:of|with|containing|having|and|but|in|that (?:has|have|contains?))? ?")
_SOME_OF_THEM: Final = regex.compile(
    r"^ (?:must|should|has to|have to|needs? to) (?:be (?:an?|in (?!total)|about|the) |start|"
    r"begin|end|contain|include|mention|rhyme|have)"
)
_AND: Final = regex.compile(r",? (?:and|or) ")
_ELLIPSIS: Final = regex.compile(r"^(?:$|[,;.)!]| and\b| but\b)")
_OTHER_EACH: Final = regex.compile(
    r"\b(?:each|every)(?: of the)? (?!\ue000)(?:\w+ )?(?!word|letter)\w+\b[^.;,]{0,40}$"
)
_PER_OTHER: Final = regex.compile(r"^ ?(?:per|in (?:each|every)|a|for each|for every|every) \w+\b")
_ORDINAL: Final = (
    r"(?:first|second|third|fourth|fifth|sixth|last|final|opening|closing|middle|next|other|"
    r"remaining|\d+(?:st|nd|rd|th))"
)
_PART: Final = (
    r"(?:line|sentence|paragraph|section|part|stanza|verse|bullet|item|word|version|response|half|"
    r"chapter|one|letter|answer|row|column)s?"
)
PART_BEFORE: Final = regex.compile(
    rf"\b(?:the|your|its|in|with|have|a) (?:{_ORDINAL}|\w+ )?{_ORDINAL} (?:\w+ )?{_PART}\b[^.;,]{{0,50}}$"
    r"|\b(?:the|each|its|your|every|a|an|short|brief|one)(?: short| brief| clear|"
    r" catchy)? (?:title|heading|headline|introduction|intro|conclusion|subject line|subject|"
    r"caption|"
    r"tagline|postscript|name|section|chapter|step|abstract(?= (?:of|with|should|must|that))|"
    r"header|closing|opening|footer|column|row|cell)\b[^.;,]{0,40}$"
    rf"|\b(?:paragraph|section|line|part|sentence) (?:\d+|one|two|three)\b[^.;,]{{0,40}}$"
    r"|\b(?:below|above|after|before|beneath|underneath|under) (?:it|that|this|them|the (?!answer)\w+)"
    r"\b[^.;,]{0,40}$"
)
PART_AFTER: Final = regex.compile(
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
    demanded: list[_Count] = []
    for count, previous in zip(counts, [None, *counts], strict=False):
        if _is_about_given_text(sentence.text, count) or _SOME_OF_THEM.match(sentence.text[count.end :]):
            continue
        is_joined = demanded and _JOINS.fullmatch(sentence.text[demanded[-1].end : count.quantity.start])
        if is_joined or is_demanded(sentence, count.quantity.start, count.end):
            demanded.append(count)
            yield _build(sentence, count, previous)
    yield from _find_articles(sentence, counts)


def _read_counts(text: str) -> Iterator[_Count]:
    quantities = list(find_quantities(text))
    previous: _Count | None = None
    for quantity, following in zip(quantities, [*quantities[1:], None], strict=False):
        count = _read_count(text, quantity, following, previous)
        if count and not (_SINGLE.search(text[: quantity.start]) and quantity.bounds.least == 1):
            yield count
            previous = count


def _read_count(
    text: str, quantity: Quantity, following: Quantity | None, previous: _Count | None
) -> _Count | None:
    match = AFTER_NUMBER.match(text, quantity.end) or _match_shared_noun(text, quantity, following)
    match = match or _match_noun_before(text, quantity)
    if match:
        noun_end = max(match.end(), quantity.end)
        after = AFTER_NOUN.match(text, noun_end)
        bounds = apply_after(_inherit(quantity, previous, text), after)
        return _Count(quantity, match, get_thing(match), bounds, after.end() if after else noun_end)
    # "At least 12 sentences, at most 20."
    if previous and quantity.bounds.is_stated and _ELLIPSIS.match(text[quantity.end :]):
        return _Count(quantity, previous.match, previous.thing, quantity.bounds, quantity.end)
    return None


def _inherit(quantity: Quantity, previous: _Count | None, text: str) -> Bounds:
    """Apply the words of the number before: "at least two dates and three numbers"."""
    bounds, number = quantity.bounds, quantity.bounds.least
    if bounds.is_stated or previous is None or not _AND.fullmatch(text[previous.end : quantity.start]):
        return bounds
    if previous.bounds.least is None and previous.quantity.bounds.is_stated:
        return Bounds(None, number)
    return Bounds(number, None) if previous.bounds.most is None else bounds


def _match_shared_noun(text: str, quantity: Quantity, following: Quantity | None) -> regex.Match[str] | None:
    """Read the noun that two quantities share: "at least 10 and at most 20 words"."""
    if following is None or not regex.fullmatch(r",? ?(?:and|but)? ?", text[quantity.end : following.start]):
        return None
    return AFTER_NUMBER.match(text, following.end)


def _match_noun_before(text: str, quantity: Quantity) -> regex.Match[str] | None:
    """Read the noun that "of them" stands for: "use headings, at least three of them"."""
    bracketed = text[quantity.start - 1 : quantity.start] + text[quantity.end : quantity.end + 1]
    in_brackets = bracketed == "()" and quantity.bounds.is_stated
    if not in_brackets and not _OF_THEM.match(text[quantity.end :]):
        return None
    return next(reversed(list(THING.finditer(text, max(0, quantity.start - 60), quantity.start))), None)


def _is_about_given_text(text: str, count: _Count) -> bool:
    if _EXAMPLE.search(count.match.group()) or _PICKS.search(text[: count.quantity.start]):
        return True
    if count.bounds.is_stated and count.bounds.least != count.bounds.most:
        return False
    return bool(_DEFINITE.search(text[: count.quantity.start]))


def _build(sentence: Sentence, count: _Count, previous: _Count | None) -> Finding:
    start, end = sentence.start + count.quantity.start, sentence.start + count.end
    before, after = sentence.text[: count.quantity.start], sentence.text[count.end :]
    unit, length = _find_unit(before, after, previous, count)
    if unit == "other" or (not unit and (PART_BEFORE.search(before) or PART_AFTER.match(after))):
        return Finding(start, end)
    check = count.thing.build(count.bounds)
    if check is None or (unit and not count.thing.can_repeat):
        return Finding(start, end)
    return Finding(start, end + length, {**check, **({"each": unit} if unit else {})})


def _find_unit(before: str, after: str, previous: _Count | None, count: _Count) -> tuple[str, int]:
    """Find the unit that the number holds for, and the length of the words after it that say so."""
    if (match := _EACH_AFTER.match(after)) and _UNITS[match["unit"]] != _name_unit(count):
        return _UNITS[match["unit"]], match.end()
    if previous and previous.bounds.most != 1 and _OF.fullmatch(before, previous.end):
        return _name_unit(previous).replace("other", ""), 0
    if (match := _EACH_OF_THEM.search(before)) and (previous or match.group().startswith("none")):
        return _name_unit(previous) if previous else "other", 0
    if match := _EACH_BEFORE.search(before):
        unit = _UNITS[match["unit"]]
        return ("" if unit == "list_item" and count.thing.name == "bullets" else unit), 0
    if (match := _EACH.match(after)) and previous:
        return _name_unit(previous), match.end()
    is_other = _OTHER_EACH.search(before) or _PER_OTHER.match(after) or _EACH.match(after)
    return ("other" if is_other else ""), 0


def _name_unit(count: _Count) -> str:
    """Name the unit that "each" stands for after a number of them."""
    units = {"lines": "line", "sentences": "sentence", "paragraphs": "paragraph", "stanzas": "paragraph"}
    items = {"items": "list_item", "bullets": "list_item", "numbered": "list_item"}
    return {**units, **items}.get(count.thing.name, "other")


def _find_articles(sentence: Sentence, counts: list[_Count]) -> Iterator[Finding]:
    """Find a single sentence, paragraph, line or word as the whole output: "Answer in one sentence"."""
    taken = {count.match.start() for count in counts}
    for match in _ARTICLE.finditer(sentence.text):
        before = sentence.text[: match.start()]
        if taken & set(range(match.start(), match.end())) or not _BEFORE_ARTICLE.search(before):
            continue
        if match["number"] in {"a", "an"} and match["noun"] in {"word", "line"}:
            continue
        if is_demanded(sentence, match.start(), match.end()) and not PART_BEFORE.search(before):
            thing = BY_NAME[f"{match['noun']}s"]
            yield Finding(
                sentence.start + match.start(), sentence.start + match.end(), thing.build(Bounds(1, 1))
            )
