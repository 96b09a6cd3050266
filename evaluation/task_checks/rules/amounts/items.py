"""Numbers of things that are the output: "give me 8 questions", "three reasons why ...", "list ten rivers".

The number is checked only if nothing else in the task says how the output is divided, or what else it has.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import regex

from evaluation.task_checks.demands.governors import find_governor
from evaluation.task_checks.demands.moods import can_demand, is_demanded
from evaluation.task_checks.quantities import Quantity, find_quantities
from evaluation.task_checks.reading import Reading
from evaluation.task_checks.rules.amounts import item_words as words
from evaluation.task_checks.rules.finding import Finding, overlap
from evaluation.task_checks.sentences import Sentence

_FEWEST, _MOST = 2, 200
_LAYOUTS: Final = frozenset(
    {"csv", "table", "schema", "code", "part_count", "section_count", "paragraph_count", "line_count"}
    | {"sentence_count", "line_syllables", "no_whitespace", "one_of", "heading_count", "code_block_count"}
    | {"template", "first_letters", "repeats_request", "list_item_count"}
)
"""Checks of an output that is divided in another way, or has other parts."""


def find_items(sentence: Sentence, _: Reading) -> Iterator[Finding]:
    """Find numbers of things to be listed, as the object of an order or wish, or without a verb."""
    for quantity in find_quantities(sentence.text):
        phrase = words.PHRASE.match(sentence.text, quantity.end)
        if phrase is None or not _is_several(sentence.text, quantity):
            continue
        end = phrase.end()
        if words.GOES_ON.match(sentence.text[end:]) or not words.PLURAL.fullmatch(phrase["words"]):
            continue
        if _is_order(sentence, quantity.start, end, phrase["words"]) or _is_note(sentence, quantity, phrase):
            check = {"check": "item_count", **quantity.bounds.to_fields()}
            yield Finding(sentence.start + quantity.start, sentence.start + end, check)


def _is_several(text: str, quantity: Quantity) -> bool:
    bounds = quantity.bounds
    numbers = [number for number in (bounds.least, bounds.most) if number is not None]
    is_loose = bounds.is_near or "couple" in text[quantity.start : quantity.end]
    return not is_loose and all(_FEWEST <= number <= _MOST for number in numbers)


def _is_order(sentence: Sentence, start: int, end: int, phrase: str) -> bool:
    """Check whether the things are the object of an order or wish whose output they are."""
    text = sentence.text
    if words.TELLS.fullmatch(text, 0, start):
        return can_demand(sentence) and words.WORDED.fullmatch(phrase) is not None
    governor = find_governor(text, start)
    if governor is None or governor.kind != "produce" or not words.GAP.fullmatch(text, governor.end, start):
        return False
    person = words.PERSON.match(text, governor.end)
    order = text[: person.end() if person else governor.end]
    is_any = words.ASKS.search(order) is not None or words.WORDED.fullmatch(phrase) is not None
    return is_any and is_demanded(sentence, start, end)


def _is_note(sentence: Sentence, quantity: Quantity, phrase: regex.Match[str]) -> bool:
    """Check for a task without a verb: "three reasons why ..."."""
    text, end = sentence.text, phrase.end()
    return (
        words.FRAGMENT.fullmatch(text, 0, quantity.start) is not None
        and words.WORDED.fullmatch(phrase["words"]) is not None
        and words.FRAGMENT_END.match(text, end) is not None
        and not sentence.is_question
        and not words.HAPPENED.search(text[end:])
        and is_demanded(sentence, quantity.start, end)
    )


def settle_items(findings: Sequence[Finding], sentences: Sequence[Sentence]) -> list[Finding]:
    """Drop the numbers of items that may not be all of the output, or that another rule has read."""
    items = [finding for finding in findings if _is_item(finding)]
    others = [finding for finding in findings if not _is_item(finding)]
    if not items:
        return others
    is_whole = (
        len(items) == 1
        and not any(_is_read(items[0], other) or _divides(other) for other in others)
        and not any(_has_more(sentence, items[0]) for sentence in sentences)
    )
    return list(findings) if is_whole else others


def _is_item(finding: Finding) -> bool:
    return finding.check is not None and finding.check["check"] == "item_count"


def _is_read(item: Finding, other: Finding) -> bool:
    """Check whether another rule has read more of the same words than that they have no check."""
    is_within = other.check is None and item.start <= other.start and other.end <= item.end
    return overlap(item, other) and not is_within


def _divides(finding: Finding) -> bool:
    """Check whether a requirement divides the output in another way than into the items."""
    check = finding.check or {}
    is_list = finding.is_default and check.get("check") == "list_item_count"
    if check.get("check") == "json":
        return bool(check.get("keys"))
    return finding.is_form or (check.get("check") in _LAYOUTS and "each" not in check and not is_list)


def _has_more(sentence: Sentence, item: Finding) -> bool:
    """Check whether a sentence of the request demands another output, or one in which items are not seen."""
    if sentence.is_data:
        return False
    text, place = sentence.text, item.start - sentence.start
    is_own = 0 <= place < len(text)
    if sentence.is_question and not is_own:
        return True
    if words.OTHER_FORM.search(text) or words.DISTRIBUTED.search(text):
        return True
    orders = [match.end() for match in words.OTHER_ORDER.finditer(text)]
    own = max((end for end in orders if is_own and end <= place), default=None)
    return any(end != own and not words.OF_ITEMS.match(text, end) for end in orders)
