"""Counts the items of an answer by its own layout: numbers, bullet points, headings, table rows or lines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, groupby, pairwise
from typing import Final

import regex

from evaluation.checks.layouts.answer_frames import (
    find_framed_lists,
    is_address,
    is_frame_title,
    is_introduction,
    is_letter_or_prose,
    is_total,
)
from evaluation.checks.layouts.item_marks import BULLET, EMOJI, LETTER, ItemMark, find_marks, is_marked
from evaluation.checks.segmentation import CONTENT, Amount
from evaluation.texts.json_texts import parse_json, read_json_values

_JSON_STARTS: Final = ("{", "[")
_FEWEST: Final = 2
"""Fewer lines without marks are no items."""
_FENCES: Final = 2
"""The fences of one block."""
_AROUND: Final = 2
"""Most lines around a block that is the answer: an introduction and a closing line."""
_NESTED: Final = 2
"""Blanks by which a nested item stands further in."""
_LONGEST_HEAD: Final = 80
"""Most characters of a bold line that is a heading."""
_FENCE: Final = regex.compile(r"[ \t]*(```|~~~)")
_HAS_CONTENT: Final = regex.compile(CONTENT)
_QUOTE_MARK: Final = regex.compile(r"^[ \t]{0,3}>[ \t]?")
_HEADING: Final = regex.compile(r"^(?P<level>#{1,6})[ \t]+(?P<words>\S.*)$")
_BOLD_LINE: Final = regex.compile(
    rf"^[ \t]{{0,3}}{EMOJI}\*\*(?P<words>[^*\n]{{1,{_LONGEST_HEAD}}})\*\*:?[ \t]*$"
)
_BOLD_LEAD: Final = regex.compile(rf"^[ \t]{{0,3}}{EMOJI}\*\*(?P<words>[^*\n]{{1,{_LONGEST_HEAD}}})\*\*")
_ROW: Final = regex.compile(r"^[ \t]*\|.*\|[ \t]*$")
_RULE_ROW: Final = regex.compile(r"^[ \t|:-]+$")
_APART: Final = regex.compile(r"\W*<<[^<>]*>>\W*$|\W*p\.? ?(?:p\.? ?)?s(?:\.|:)", regex.I)
_ENDS_WITH_COLON: Final = regex.compile(r"[:：][ \t*_]*$")
_SENTENCE_END: Final = regex.compile(r"[.!?…。！？؟।][\p{Pf}\p{Pe}\"'*_]*$")
_SEVERAL_SENTENCES: Final = regex.compile(
    r"[\p{L}\d\p{Pe}][.!…]+[\p{Pf}\p{Pe}\"'*_]* +\p{Lu}.{12}|[。！].{6}"
)


def count_items(text: str) -> Amount:
    """Count the items in the order of these layouts; a layout that leaves the number open gives two numbers.

    0. JSON and nothing else: its only list, or the members of its only object.
    1. Items with a number, a numbered label ("Question 3:") or a bullet point, without nested ones. Bullet
       points and letters beside numbers are nested. Bullet points below several headings, and numbers that
       start again, may be details of fewer items: both numbers are returned.
    2. Headings, bold lines, or lines that start with bold words.
    3. The rows of the only table.
    4. Lines, without an introduction and a closing line, if none of them holds several sentences.
    """
    lines = _read_lines(text)
    values = parse_json("\n".join(lines)) if "".join(lines).lstrip()[:1] in _JSON_STARTS else ()
    if values:
        return _count_members(values[0])
    if any(find_marks(lines)):
        return _count_marked(lines)
    headings = list(_find_headings(lines))
    layouts = [*_count_heads(lines, headings), *_count_rows(lines)]
    if layouts or len(headings) > 1:
        return _join(layouts or [0])
    return _count_block(text, lines) or _count_lines(lines)


def _count_block(text: str, lines: Sequence[str]) -> Amount | None:
    """Count the items of the only block of JSON if an introduction and at most one line more surround it."""
    around = [line for line in lines if _HAS_CONTENT.search(line)]
    fences = sum(bool(_FENCE.match(line)) for line in text.split("\n"))
    if fences != _FENCES or not 0 < len(around) <= _AROUND or not _ENDS_WITH_COLON.search(around[0]):
        return None
    values = read_json_values(text)
    return _count_members(values[0]) if len(values) == 1 and isinstance(values[0], list | dict) else None


def _count_members(value: object) -> Amount:
    """Count the items of JSON data; an object with one list and further members leaves the number open."""
    if isinstance(value, list):
        return Amount(len(value), len(value))
    if not isinstance(value, dict):
        return Amount(0, 0)
    parts = [part for part in value.values() if isinstance(part, dict | list)]
    if len(value) == 1 and parts:
        return _count_members(parts[0])
    lists = [len(part) for part in parts if isinstance(part, list)]
    return _join([len(value), *lists])


def _read_lines(text: str) -> list[str]:
    """Return the lines without blocks of code, except in a text that is nothing else."""
    lines, plain, fence = text.split("\n"), [], ""
    for line in lines:
        match = _FENCE.match(line)
        if match and fence in {"", match[1]}:
            fence = "" if fence else match[1]
        elif not fence:
            plain.append(_QUOTE_MARK.sub("", line).rstrip())
    return plain if any(map(_HAS_CONTENT.search, plain)) else [x for x in lines if not _FENCE.match(x)]


def _count_marked(lines: Sequence[str]) -> Amount:
    """Count without the lists that surround the items; with and without those that may do so."""
    framed = list(find_framed_lists(lines, {mark.line: mark.kind for mark in find_marks(lines)}))
    surely = {place for is_sure, places in framed if is_sure for place in places}
    drops = (surely, {place for _, places in framed for place in places})
    kept = [["" if place in drop else line for place, line in enumerate(lines)] for drop in drops]
    amounts = [
        _count_marks(marks, sum(1 for _ in _find_headings(rest)))
        for rest in kept
        if (marks := list(find_marks(rest)))
    ]
    return _join(number for amount in amounts for number in (amount.least, amount.most))


def _count_marks(marks: Sequence[ItemMark], headings: int) -> Amount:
    kind = min(mark.kind for mark in marks)
    least = min(mark.indent for mark in marks if mark.kind == kind)
    top = [mark for mark in marks if mark.kind == kind and mark.indent < least + _NESTED]
    others = [mark for mark in marks if mark.kind > kind and mark.indent < least + _NESTED]
    counts = {*_count_parts(top)}
    if headings > 1 and _may_be_details(top):
        counts.add(headings)
    if others and (len(top) == 1 or not top[0].line < others[0].line <= top[-1].line + 1):
        # Below one number, before the first or behind the last one, they may be items themselves.
        counts.add(len(others) + len(top) * (len(top) > 1))
    return _join(counts)


def _count_parts(top: Sequence[ItemMark]) -> Iterator[int]:
    """Yield the numbers of items that the marks may stand for."""
    numbers = {mark.number for mark in top}
    first = [mark for mark in top if mark.word == top[0].word]
    if top[0].kind == BULLET:
        yield from (len(top), sum(mark.number == top[0].number for mark in top))
    elif top[0].word:
        # "Q1", "A1": the answers are no items; "Tip 1", "Trick 2": both are.
        yield from (len(numbers), len(first) if {mark.number for mark in first} == numbers else len(top))
    else:
        yield from (len(top), 1 + _count_restarts(top) if _count_restarts(top) else len(top))


def _count_restarts(top: Sequence[ItemMark]) -> int:
    places = [int(mark.number) if mark.number.isdecimal() else 0 for mark in top]
    return sum(0 < second <= first for first, second in pairwise(places))


def _may_be_details(top: Sequence[ItemMark]) -> bool:
    """Check whether the items below several headings may be details: they have no running number."""
    return top[0].kind >= LETTER or (not top[0].word and _count_restarts(top) > 0)


def _find_headings(lines: Iterable[str]) -> Iterator[tuple[int, str]]:
    """Yield the level and the words of headings and bold lines that have no number."""
    for line in lines:
        if is_marked(line):
            continue
        if match := _HEADING.match(line):
            yield len(match["level"]), match["words"].casefold()
        elif match := _BOLD_LINE.match(line):
            yield 7, match["words"].casefold()


def _count_heads(lines: Sequence[str], headings: Sequence[tuple[int, str]]) -> Iterator[int]:
    if headings[1:] and headings[0][0] < min(level for level, _ in headings[1:]):
        headings = headings[1:]  # the title
    highest = min((level for level, _ in headings), default=0)
    top = [words for level, words in headings if level == highest]
    leads = [match["words"].casefold() for match in map(_BOLD_LEAD.match, lines) if match]
    for group in (top, leads):
        heads = [words for words in group[:1] if not is_introduction(words)] + group[1:]
        heads = [words for words in heads if not is_frame_title(words)]
        if len(heads) > 1:
            yield from (len(heads), len(set(heads)))


def _count_rows(lines: Sequence[str]) -> Iterator[int]:
    rules = [place for place, line in enumerate(lines) if _ROW.match(line) and _RULE_ROW.match(line)]
    rows = [line for line in lines if _ROW.match(line) and not _RULE_ROW.match(line)]
    if len(rules) == 1 and rows:
        yield len(rows) - 1 - is_total(rows[-1])
    elif rows:
        yield 0


def _count_lines(lines: Sequence[str]) -> Amount:
    blocks = _split_blocks(lines)
    # Single lines around one block are no items; several blocks may be items of several lines.
    inner = [block for place, block in enumerate(blocks) if block[1:] or 0 < place < len(blocks) - 1]
    items = _drop_frame(inner[0] if len(inner) == 1 and inner[0][1:] else [*chain.from_iterable(blocks)])
    if is_letter_or_prose([*chain.from_iterable(blocks)]):
        return Amount(0, 0)
    if len(items) < _FEWEST or any(map(_SEVERAL_SENTENCES.search, items)):
        return Amount(0, 0)
    several = sum(len(block) > 1 for block in blocks)
    return _join([len(items), *([len(blocks)] if several > 1 else [])])


def _split_blocks(lines: Iterable[str]) -> list[list[str]]:
    """Split at lines without letters, titles in angle brackets and postscripts."""
    groups = groupby(lines, lambda line: bool(_HAS_CONTENT.search(line) and not _APART.match(line)))
    return [list(group) for has_content, group in groups if has_content]


def _drop_frame(lines: Sequence[str]) -> Sequence[str]:
    """Drop an introduction with a colon, and lines that speak to the reader, or alone end as a sentence."""
    is_plain = bool(lines[1:-1]) and not any(map(_SENTENCE_END.search, lines[1:-1]))
    frame = [bool(is_address(line) or (is_plain and _SENTENCE_END.search(line))) for line in lines]
    if not frame:
        return lines
    has_introduction = frame[0] or bool(_ENDS_WITH_COLON.search(lines[0]) or _HEADING.match(lines[0]))
    return lines[has_introduction : len(lines) - frame[-1]]


def _join(numbers: Iterable[int]) -> Amount:
    known = set(numbers)
    return Amount(min(known), max(known))
