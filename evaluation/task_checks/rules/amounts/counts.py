"""Numbers of things: "at most 50 words", "three sentences of ten words each", "no commas"."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import regex

from evaluation.task_checks.demands.moods import can_demand, is_demanded
from evaluation.task_checks.language.words import TEXT
from evaluation.task_checks.quantities import (
    AFTER_NOUN,
    Bounds,
    Quantity,
    apply_after,
    find_quantities,
)
from evaluation.task_checks.reading import Reading
from evaluation.task_checks.rules.amounts.singles import find_parts, find_units
from evaluation.task_checks.rules.amounts.units import (
    PART_AFTER,
    PART_BEFORE,
    PLURAL_BEFORE,
    Count,
    find_unit,
)
from evaluation.task_checks.rules.amounts.verdicts import read_verdict
from evaluation.task_checks.rules.finding import Finding
from evaluation.task_checks.sentences import Sentence
from evaluation.task_checks.things import AFTER_NUMBER, THING, get_thing

_PART_OF: Final = regex.compile(r"^[ -]of (?:the|these|those|my|our|your|its|each|all|which)\b")
"""After a number of some of the things: "two of the words"."""
_AFTER_NOUN: Final = regex.compile(
    r"(?: please| long| format)?(?:[,;:(]| - | and| but)+ ?(?:(?:and|but|please|with|use|give me|write|"
    r"make it|"
    r"keep (?:it|them) (?:to|at)) )*$"
)
"""Between a noun and a bound of it: "in bullet points, six at most"."""
_LIMIT: Final = regex.compile(r"limit|budget|cap|ceiling|max|min|[≤≥<>]")
_OF_EACH: Final = regex.compile(r"-[a-z]+ (?!long\b)[a-z-]{3,}(?<!ss)s\b(?! (?:about|on|of)\b)")
"""Several texts of a size: "one-word titles"."""
_OF_THEM: Final = regex.compile(r"^ (?:of (?:them|these|those|each)|such)\b")
_EACH: Final = regex.compile(r"\b(?:each|every) $")
_SINGLE: Final = regex.compile(r"(?:\b(?:without|not|no|never|avoid)|n't)(?: \w+){0,2} ?$")
"""Before a number that "not a single comma" has: it is no number."""
_OF_A_TEXT: Final = regex.compile(
    rf" (?:of|from) (?:the|this|that|my|our|his|her) (?!(?:[a-z]+ )?{TEXT}\b)[a-z]+"
)
"""A part of a text that is there already: "two sentences of the will"."""
_EXAMPLE: Final = regex.compile(r"\b(?:example|sample|new|blank|empty)\b")
_PICKS: Final = regex.compile(
    r"\b(?:highlight|bold|bolden|itali\w+|emphasi\w+|underline|capitali\w+|mark|define|explain|"
    r"choose|pick)(?: up to)? ?$"
)
_JOINS: Final = regex.compile(r",? ?(?:of|with|containing|having|and|but|in|that (?:has|have|contains?))? ?")
_SHARES: Final = regex.compile(r",? ?(?:and|but|or|nor)? ?")
_SOME_OF_THEM: Final = regex.compile(
    r"^(?: of (?:them|these|those|which))? (?:must|should|has to|have to|needs? to) "
    r"(?:be (?:an?|in (?!total)|about|the) |start|"
    r"begin|end|contain|include|mention|rhyme|have)"
)
_TRAILING: Final = regex.compile(
    rf"(?: (?:on|about|for) [^.,;:]{{1,60}})?(?:{AFTER_NOUN.pattern})(?=[.!,;]|$)"
)
"""A bound after the topic: "100 words on bees, at most"."""
_AND: Final = regex.compile(r",? (?:and|or) ")
_ELLIPSIS: Final = regex.compile(r"^(?:$|[,;.)!]| and\b| but\b)")
_ABOUT: Final = regex.compile(r" (?:on|about)\b")
_THEN: Final = regex.compile(r",? (?:and )?(?:then|followed by) (?:an?|one|the|another) ")
_PROSE: Final = frozenset({"words", "sentences", "paragraphs", "lines", "characters"})
_DEFINITE: Final = regex.compile(
    r"\b(?:these|those|this|following|above|his|her|their|original|previous|given|provided|"
    r"same)(?: \w+)? ?$|\b(?:the|my|our)(?: (?:first|last|top|following|above|same|next|previous|"
    r"other|original|usual|current|daily|weekly|monthly|yearly))? ?$|\b(?:of|from|in) the ?$"
)


def find_counts(sentence: Sentence, _: Reading) -> Iterator[Finding]:
    """Find the numbers of things that a sentence demands."""
    counts = list(_read_counts(sentence.text))
    demanded: list[Count] = []
    for count, previous in zip(counts, [None, *counts], strict=False):
        if verdict := _read_verdict(sentence, count):
            yield verdict
            continue
        if _is_about_given_text(sentence.text, count) or _SOME_OF_THEM.match(sentence.text[count.end :]):
            continue
        is_joined = demanded and _JOINS.fullmatch(sentence.text[demanded[-1].end : count.quantity.start])
        # A bound may follow its noun: "bullets, six at most", "word limit 65".
        places = (count.quantity.start, min(count.match.start(), _find_start(sentence.text, count)))
        if is_joined or any(is_demanded(sentence, place, count.end) for place in places):
            demanded.append(count)
            yield _build(sentence, count, previous)
    yield from find_units(sentence, counts)
    yield from find_parts(sentence, counts)


def _find_start(text: str, count: Count) -> int:
    """Return where the number starts, or the unit before it: "sentences of 8 words"."""
    unit = PLURAL_BEFORE.search(text, 0, count.quantity.start)
    return unit.start() if unit else count.quantity.start


def _read_counts(text: str) -> Iterator[Count]:
    quantities = list(find_quantities(text))
    previous: Count | None = None
    for quantity, following in zip(quantities, [*quantities[1:], None], strict=False):
        count = _read_count(text, quantity, following, previous)
        if previous and previous.match.start() <= quantity.start < previous.match.end():
            continue
        is_none = _SINGLE.search(text[: quantity.start]) and quantity.bounds.least == 1
        if count and not is_none and not _PART_OF.match(text[quantity.end :]):
            yield count
            previous = count


def _read_count(
    text: str, quantity: Quantity, following: Quantity | None, previous: Count | None
) -> Count | None:
    match = AFTER_NUMBER.match(text, quantity.end) or _match_shared_noun(text, quantity, following)
    match = match or _match_noun_before(text, quantity)
    if match:
        noun_end = max(match.end(), quantity.end)
        after = AFTER_NOUN.match(text, noun_end) or _TRAILING.match(text, noun_end)
        bounds = apply_after(_inherit(quantity, previous, text), after)
        return Count(quantity, match, get_thing(match), bounds, after.end() if after else noun_end)
    # "At least 12 sentences, at most 20."
    is_last = _ELLIPSIS.match(text[quantity.end :]) or _closes_range(text, previous, quantity)
    if previous and quantity.bounds.is_stated and is_last:
        return Count(quantity, previous.match, previous.thing, quantity.bounds, quantity.end)
    return None


def _closes_range(text: str, previous: Count | None, quantity: Quantity) -> bool:
    """Check for the other bound of the same number: "at least three lines and at most five on the war"."""
    if previous is None or not _AND.fullmatch(text, previous.end, quantity.start):
        return False
    first, second = previous.bounds, quantity.bounds
    is_range = None in (first.least, first.most) and (first.least is None) != (second.least is None)
    return is_range and _ABOUT.match(text, quantity.end) is not None


def _inherit(quantity: Quantity, previous: Count | None, text: str) -> Bounds:
    """Apply the words of the number before: "at least two dates and three numbers"."""
    bounds, number = quantity.bounds, quantity.bounds.least
    if bounds.is_stated or previous is None or not _AND.fullmatch(text[previous.end : quantity.start]):
        return bounds
    if previous.bounds.least is None and previous.quantity.bounds.is_stated:
        return Bounds(None, number)
    return Bounds(number, None) if previous.bounds.most is None else bounds


def _match_shared_noun(text: str, quantity: Quantity, following: Quantity | None) -> regex.Match[str] | None:
    """Read the noun that two quantities share: "at least 10 and at most 20 words"."""
    if following is None or not _SHARES.fullmatch(text, quantity.end, following.start):
        return None
    return AFTER_NUMBER.match(text, following.end)


def _match_noun_before(text: str, quantity: Quantity) -> regex.Match[str] | None:
    """Read the noun that is left out: "use headings, at least three of them", "bullets (max 5)"."""
    nouns = list(THING.finditer(text, max(0, quantity.start - 60), quantity.start))
    noun = next(reversed(nouns), None)
    if of_them := _OF_THEM.match(text[quantity.end :]):
        # "Keep each paragraph under 60 words and write three of them": the paragraphs.
        is_all = _ELLIPSIS.match(text[quantity.end + of_them.end() :])
        return next((unit for unit in nouns if _EACH.search(text[: unit.start()])), noun if is_all else None)
    if noun is None:
        return None
    is_bound = quantity.bounds.is_stated and _ELLIPSIS.match(text[quantity.end :])
    is_near = noun.end() + 1 == quantity.start and _LIMIT.match(text, quantity.start)
    is_near = is_near or _AFTER_NOUN.match(text[noun.end() : quantity.start])
    return noun if is_bound and is_near else None


def _is_about_given_text(text: str, count: Count) -> bool:
    if count.thing.name == "capital_words":
        return False
    if _OF_A_TEXT.match(text, count.end):
        return True
    if _EXAMPLE.search(count.match.group()) or _PICKS.search(text[: count.quantity.start]):
        return True
    if count.bounds.is_stated and count.bounds.least != count.bounds.most:
        return False
    return bool(_DEFINITE.search(text[: count.quantity.start]))


def _read_verdict(sentence: Sentence, count: Count) -> Finding | None:
    """Read "anything over 300 words is cut off"; None if the amount is no subject of a verdict."""
    before, after = sentence.text[: count.quantity.start], sentence.text[count.end :]
    if not can_demand(sentence) or (bounds := read_verdict(count.bounds, before, after)) is None:
        return None
    start, end = sentence.start + count.quantity.start, sentence.start + count.end
    return Finding(start, end, count.thing.build(bounds))


def _is_followed(count: Count, after: str) -> bool:
    """Check for another part after the counted one: "two sentences, then a table"."""
    return count.thing.name in _PROSE and count.bounds.most is not None and _THEN.match(after) is not None


def _build(sentence: Sentence, count: Count, previous: Count | None) -> Finding:
    start, end = sentence.start + count.quantity.start, sentence.start + count.end
    before, after = sentence.text[: count.quantity.start], sentence.text[count.end :]
    # "Limit every sentence to 12 words": the unit may stand within the words of the number.
    head = sentence.text[: count.quantity.end]
    unit, length = find_unit(before, head, after, previous, count)
    if _OF_EACH.match(sentence.text, count.quantity.end):
        return Finding(start, end)
    is_part = PART_BEFORE.search(before) or PART_AFTER.match(after) or _is_followed(count, after)
    if unit == "other" or (not unit and is_part):
        return Finding(start, end)
    check = count.thing.build(count.bounds)
    if check is None or (unit and not count.thing.can_repeat):
        return Finding(start, end)
    return Finding(start, end + length, {**check, **({"each": unit} if unit else {})})
