"""The unit that a number of things holds for: the whole output, each line, or a part without a check."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import regex

from evaluation.task_checks.language.words import TEXT
from evaluation.task_checks.quantities import Bounds, Quantity
from evaluation.task_checks.things import Thing

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
_UNIT: Final = (
    r"(?P<unit>line(?!-| breaks?\b)|sentence|paragraph|stanza|verse|bullet point|bullet|list item|item|"
    r"point)s?"
)
_EACH_BEFORE: Final = regex.compile(
    r"\b(?:each|every|any|no|all|none|neither)(?: of the| single| of these| of your)?(?: (?:two|three|"
    rf"four|five|six|seven|\d+))? {_UNIT}\b"
    r"(?! (?:and|or|in the) (?:each|every))(?:(?! and (?:the|it|there|your|must|have|use|"
    r"include)\b)[^.;]){0,60}$"
)
_ALL_BEFORE: Final = regex.compile(
    rf"(?:^|[,;:] ?|\band )(?:the |your |all (?:the )?)?{_UNIT.removesuffix('?')} (?:must|should|shall|"
    rf"have to|need to|may|"
    r"are to|can|cannot|can't|shouldn't|mustn't)\b[^.;]{0,30}$"
)
"""Units in the plural as the subject: "sentences must have at most 20 words"."""
PLURAL_BEFORE: Final = regex.compile(rf"\b{_UNIT.removesuffix('?')} (?:of|with|having) $")
"""Units in the plural without a number: "in sentences of at most 12 words"."""
_EACH_AFTER: Final = regex.compile(
    rf"^,? ?(?:(?:in|for|on) (?:each|every)|per|a|each|(?:in )?(?:each|every)(?: of the)?)[ -]{_UNIT}\b"
)
_EACH: Final = regex.compile(
    r"^,? (?:each|apiece|per unit)\b(?! (?:separated|starting|beginning|ending|containing|having|"
    r"under|over|at|no|not|max|min|up|between|fewer|less|more|exactly|with|of|followed|about|on|"
    r"describing|covering|label|mark|start|on|in|focus|explain))"
)
_EACH_OF_THEM: Final = regex.compile(
    r"(?:\b(?:each|none(?= of)|neither(?= (?:of|one|should|may|must|can|has)\b))|"
    r"(?:^|[,;:] ?|\b(?:and|but) )(?:none|neither|both))(?: one)?(?: of (?:them|these|which|the two))?"
    r"(?: (?:with|having|containing|of|using|"
    r"being|at|has|have|is|should|must|may|can|contain|be|go|exceed|consisting))* ?$"
)
_OF: Final = regex.compile(r" of ?")
OTHER_EACH: Final = regex.compile(
    r"\b(?:each|every)(?: of the)? (?!\ue000)(?:\w+ )?(?!word|letter)\w+\b[^.;,]{0,70}$"
    rf"|\bno (?!more|less|fewer|longer|shorter|later|need|{TEXT}\b)[a-z]+ "
    r"(?:(?:may|should|must|can|shall|to|be|is|has|have|contains?|of|with|exceeds?|goes|runs) )*$"
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
    r"|\b(?:the|each|its|your|every|no|a|an|short|brief|one)(?: short| brief| clear|"
    r" catchy)? (?:title|heading|headline|introduction|intro|conclusion|subject line|subject|"
    r"caption|"
    r"tagline|postscript|name|section|chapter|step|abstract(?= (?:of|with|should|must|that))|"
    r"header|closing|opening|footer|column|row|cell)\b(?:(?! and $)[^.;,]){0,40}$"
    rf"|\b(?:paragraph|section|line|part|sentence) (?:\d+|one|two|three)\b[^.;,]{{0,40}}$"
    rf"|\b(?:the|its|and|,) {_ORDINAL}(?: (?:is|has|with|of|in|should|must|be|have|being|having))* ?$"
    r"|\bone(?: \w+)? for [^.;,(]{1,30}\(?$|\bin between[^.;]{0,20}$"
    r"|\b(?:below|above|after|before|beneath|underneath|under) (?:it|that|this|them|the (?!answer)\w+)"
    r"\b,?[^.;,]{0,40}$"
    r"|\b(?:blank|empty|greeting|subject) line, (?:then )?$"
)
PART_AFTER: Final = regex.compile(
    r"^,? (?:and|plus) (?:an?|one|the) (?:[a-z]+ )?(?:chorus|refrain|bridge|introduction|intro|conclusion|"
    r"title|heading|list|table|summary|couplet)\b|"
    rf"^\)? (?:in|for|of|as|on) (?:(?:the|your|its|an?) (?:{_ORDINAL} {_PART}|(?:\w+ )?(?:title|heading|"
    r"headline|introduction|intro|conclusion|subject line|caption|header))"
    r"|(?:line|paragraph|section|part|sentence) (?:\d+|one|two|three|four))\b"
    r"|^ (?:under|below|beneath|underneath) (?:it|them|each|every|the)\b"
)


@dataclass(frozen=True, slots=True)
class Count:
    """A number of things in a sentence."""

    quantity: Quantity
    match: regex.Match[str]
    thing: Thing
    bounds: Bounds
    end: int


def find_unit(before: str, head: str, after: str, previous: Count | None, count: Count) -> tuple[str, int]:
    """Find the unit that the number holds for, and the length of the words after it that say so."""
    if (match := _EACH_AFTER.match(after)) and _UNITS[match["unit"]] != _name_unit(count):
        return _UNITS[match["unit"]], match.end()
    if previous and previous.bounds.most != 1 and _OF.fullmatch(before, previous.end):
        return _name_unit(previous).replace("other", ""), 0
    if (match := _EACH_OF_THEM.search(before)) and (previous or not match.group().startswith("each")):
        return _name_unit(previous) if previous else "other", 0
    return _find_plain_unit(before, head, after, previous, count)


def _find_plain_unit(
    before: str, head: str, after: str, previous: Count | None, count: Count
) -> tuple[str, int]:
    """Find a unit that stands for itself: "each line", "in sentences of ten words"."""
    if match := _EACH_BEFORE.search(head) or _ALL_BEFORE.search(before):
        unit = _UNITS[match["unit"]]
        return ("" if unit == _name_unit(count) else unit), 0
    if (match := _EACH.match(after)) and previous:
        return _name_unit(previous), match.end()
    if (match := PLURAL_BEFORE.search(before)) and _UNITS[match["unit"]] != _name_unit(count):
        return ("other" if previous else _UNITS[match["unit"]]), 0
    is_other = OTHER_EACH.search(before) or _PER_OTHER.match(after) or _EACH.match(after)
    return ("other" if is_other else ""), 0


def _name_unit(count: Count) -> str:
    """Name the unit that "each" stands for after a number of them."""
    units = {"lines": "line", "sentences": "sentence", "paragraphs": "paragraph", "stanzas": "paragraph"}
    items = {"items": "list_item", "bullets": "list_item", "numbered": "list_item"}
    return {**units, **items}.get(count.thing.name, "other")
