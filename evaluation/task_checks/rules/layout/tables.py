"""Tables with their sizes and headers, in the order itself or in a sentence after it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import regex

from evaluation.task_checks.demands.moods import is_demanded
from evaluation.task_checks.marks import QUOTED
from evaluation.task_checks.quantities import Quantity, find_quantities
from evaluation.task_checks.reading import Reading
from evaluation.task_checks.rules.finding import Finding
from evaluation.task_checks.rules.layout.formats import read_names
from evaluation.task_checks.rules.negation import is_negated
from evaluation.task_checks.sentences import Sentence
from evaluation.task_checks.things import Fields

_TABLE: Final = regex.compile(
    r"\b(?:write|create|make|give me|produce|generate|provide|draw|prepare|include|add|use|"
    r"present|show|put|format|answer|respond|summari[sz]e|display|list|compile|organi[sz]e|"
    r"compare|output|return|arrange|build|insert|in|with|want|need|like|prefer|"
    r"contain)\b[^.;?]{0,90}?\b(?P<article>a|"
    r"an|one|in|as|following)(?: (?!of|the|on|around|under|at)[a-z0-9-]+){0,3}? (?P<table>table|"
    r"tabular form|tabular format)\b(?! (?:of contents|tennis|lamp|top|cloth|manners|reservation|"
    r"for (?:two|four|six|dinner|\w+ people)|saw|setting|leg|at|by the window|by|near|made|salt|"
    r"wine|linen|runner|decoration|centerpiece|talk|plan|book)\b|cloth)"
    r"|\b(?:convert|turn|transform|reformat|rewrite|change)\b[^.;?]{0,90}? (?:to|into|"
    r"as) (?P<article>an?|one)"
    r"(?: (?!(?:of|the|on|around|under|at|about|in|set|for|an?)\b)[a-z0-9-]+){0,2} (?P<table>table)"
    r"(?= (?:with|that|and|showing|having|in|which|of(?! contents))\b|$|[.,:;!?)])"
    r"|^(?:(?:please|just|only|format|output): ?)?(?P<article>)(?:(?:a|an|short|small|simple|"
    r"markdown) )*(?P<table>table)(?=:|,|$| "
    r"(?:with|of (?!contents)|please|only)\b)"
)
_OTHER_TABLE: Final = regex.compile(r"\b(?:html|latex|ascii|sql|plain[- ]text|excel|csv)\b")
_FURNITURE: Final = regex.compile(
    r"\b(?:wooden|dining|kitchen|coffee|round|periodic|oak|operating|pool|bedside|dinner|antique|picnic)\b"
)
_SIZE: Final = regex.compile(
    r"[ -](?:[a-z]+ )?(?P<side>column|row|line)s?\b(?! (?:per|each|for (?:each|every)|in (?:each|every))\b)"
)
_WITH_HEADER: Final = regex.compile(r"[ ,(]*(?:including|counting|with|incl\.?) (?:the |a )?head")
"""After a number of rows of which the header is one."""
_ITEM: Final = (
    rf"(?:{QUOTED}|(?!(?:otherwise|nothing|no|please|with|without|in|for|then|each)\b)[\p{{Ll}}_]++)"
)
_LIST: Final = rf"(?P<list>{_ITEM}(?:(?:, ?(?:and )?| and | & ){_ITEM})++|{QUOTED})"
_LIST_END: Final = r"(?= ?(?:$|[.;:!?\n)]|- |, | (?:and|with|but|in|for|of|please)\b))"
_HEADER: Final = regex.compile(
    r"\b(?:columns?|headers?|header row|heading)"
    r"(?: (?:called|named|of|are|should be|being|for|labell?ed|please))*"
    rf"(?: ?[:=] ?| ){_LIST}{_LIST_END}|\b(?:columns|headers?|header row) ?\({_LIST}\)"
)
_SIDE: Final = regex.compile(r"\b(?:columns?|rows?|headers?)\b")
_LONGEST_SEARCH: Final = 400
_Parts = tuple[Fields, list[tuple[int, int]], list[tuple[int, int]]]
"""The fields of a check, their places, and the places of sizes without a check."""


def find_tables(sentence: Sentence, reading: Reading) -> Iterator[Finding]:
    """Find tables with their sizes, and the sizes of a table that an earlier sentence demands."""
    order = next((match for match in _TABLE.finditer(sentence.text) if _is_demanded(sentence, match)), None)
    is_later = order is None and _follows_table(sentence, reading)
    if order is None and not is_later:
        return
    if order and _OTHER_TABLE.search(sentence.text, order.start(), order.end()):
        yield Finding(sentence.start + order.start(), sentence.start + order.end())
        return
    fields, places, unread = _read_parts(sentence, reading, order)
    yield from (Finding(sentence.start + start, sentence.start + end) for start, end in unread)
    if order:
        places = [order.span()]
    if places:
        start, end = sentence.start + places[0][0], sentence.start + places[-1][1]
        yield Finding(start, end, {"check": "table", **fields})


def _is_demanded(sentence: Sentence, match: regex.Match[str]) -> bool:
    if _FURNITURE.search(sentence.text, match.start("article"), match.end()):
        return False
    is_ordered = any(
        is_demanded(sentence, place, match.end())
        for place in (match.start("article"), match.end("article") + 1)
    )
    return is_ordered and not is_negated(sentence, match.start("table"))


def _follows_table(sentence: Sentence, reading: Reading) -> bool:
    """Check for sizes after the order of a table: "In a table, please. 3 columns, 5 rows"."""
    if not _SIDE.search(sentence.text) or sentence.is_data:
        return False
    start = max(0, sentence.start - _LONGEST_SEARCH)
    match = _TABLE.search(reading.text, start, sentence.start)
    return match is not None and not _OTHER_TABLE.search(reading.text, match.start(), match.end())


def _read_parts(sentence: Sentence, reading: Reading, order: regex.Match[str] | None) -> _Parts:
    """Read the sizes and the header; the parts of a later sentence have to be demands themselves."""
    fields: Fields = {}
    places, unread = [], []
    for quantity in find_quantities(sentence.text):
        size = _SIZE.match(sentence.text, quantity.end)
        if size is None or not _is_size(sentence, quantity, size, order):
            continue
        number = quantity.bounds.least if quantity.bounds.least == quantity.bounds.most else None
        place = (quantity.start, size.end())
        if number is None or quantity.bounds.is_near or _WITH_HEADER.match(sentence.text, size.end()):
            unread.append(place)
        else:
            fields |= {"columns" if size["side"] == "column" else "rows": number}
            places.append(place)
    header = _HEADER.search(sentence.text, order.end() if order else 0)
    if header and (order or places or is_demanded(sentence, header.start(), header.end())):
        names = read_names(sentence, reading, header)
        if len(names) > 1 and fields.get("columns") in {None, len(names)}:
            fields |= {"header": names}
            places.append(header.span())
    return fields, sorted(places), unread


def _is_size(
    sentence: Sentence, quantity: Quantity, size: regex.Match[str], order: regex.Match[str] | None
) -> bool:
    """Check for a size of the table: one column may be one of several; lines are rows of a table only."""
    if quantity.bounds.most == 1 or (size["side"] == "line" and "column" not in sentence.text):
        return False
    return order is not None or is_demanded(sentence, quantity.start, size.end())
