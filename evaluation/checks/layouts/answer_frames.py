"""Recognizes what surrounds the items of an answer: introductions, notes, sources, offers, letters, prose."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Final

import regex

_ASIDE_WORDS: Final = (
    r"(?:the )?(?:foot)?notes?|(?:data )?sources?|references?|disclaimers?|quellen|literatur|hinweise?|"
    r"anmerkungen"
)
_ASIDE: Final = regex.compile(rf"\W*(?:{_ASIDE_WORDS})\W*", regex.I)
_FRAME: Final = regex.compile(
    rf"\W*(?:{_ASIDE_WORDS}|(?:the )?(?:introduction|intro|overview|conclusions?|summary|final thoughts?|"
    r"closing|bonus|key takeaways?|takeaways?|wrapping up|in (?:short|summary|conclusion)|remember|reminder)|"
    r"(?:(?:pro|quick|bonus|extra) )?tip|please note|"
    r"einleitung|einführung|überblick|fazit|schluss|zusammenfassung|(?:profi-?|bonus-?)?tipp|merke|"
    r"引言|前言|介绍|结论|总结|结语|مقدمة|المقدمة|خاتمة|الخاتمة|خلاصة|الخلاصة)\W*",
    regex.I,
)
"""Headings of what surrounds the items."""
_EXTRA: Final = regex.compile(r"\W*bonus\W*", regex.I)
_OFFER: Final = regex.compile(
    r"\W*(?:would you like|do you want|want me to|shall i|should i|let me know|feel free|if you(?:'d|’d)? "
    r"(?:like|want)|i can also|möchtest du|möchten sie|soll ich|sag|lass|wenn du (?:magst|möchtest))\b",
    regex.I,
)
_ADDRESS: Final = regex.compile(
    r"\W*(?:(?:sure|certainly|of course|okay|here|hope|i hope|let me know|feel free|enjoy|would you|"
    r"do you want|these|i can|note|klar|gerne|natürlich|hier|ich hoffe|viel (?:spaß|erfolg|glück)|"
    r"sag|lass|möchtest|hinweis)\b|以下|这里|希望|当然|إليك|فيما يلي|آمل|هذه)",
    regex.I,
)
_LETTER_LINE: Final = regex.compile(
    r"[ \t]*(?:(?:dear|hi|hello|liebe[rs]?|hallo|sehr geehrte[rs]?)\b[^.!?]{0,60}[,，]|"
    r"(?:(?:all the |with )?(?:best|kind|warm)(?: (?:regards|wishes))?|regards|sincerely|cheers|love|"
    r"yours(?: (?:truly|sincerely|faithfully))?|(?:viele|liebe|beste) grüße|mit freundlichen grüßen),)"
    r"[ \t]*$",
    regex.I,
)
_BARE_TOTAL: Final = regex.compile(
    r"[ \t]*\|[ \t*_]*(?:(?:grand |sub)?total|sum|gesamt|summe|insgesamt)[ \t*_:]*\|", regex.I
)
_ENDS_WITH_COLON: Final = regex.compile(r"[:：][ \t*_]*$")
_SENTENCE_END: Final = regex.compile(r"[.!?…。！？؟।:：][\p{Pf}\p{Pe}\"'*_]*$")
_LATER_NUMBER: Final = regex.compile(r"\W*(?!0*1\b)\d{1,3}\b")
_FURTHER_IN: Final = regex.compile(r"[ \t]{2}|\t")
_WRAPPED_BLANKS: Final = 4
"""Fewest blanks in a line of prose that goes on in the next line."""


def is_frame_title(words: str) -> bool:
    """Check whether a heading or a bold lead names what surrounds the items."""
    return bool(_FRAME.fullmatch(words))


def is_address(line: str) -> bool:
    """Check whether a line speaks to the reader and is no item."""
    return bool(_ADDRESS.match(line))


def is_introduction(line: str) -> bool:
    """Check whether a line speaks to the reader and ends with a colon."""
    return is_address(line) and bool(_ENDS_WITH_COLON.search(line))


def is_total(row: str) -> bool:
    """Check whether a row of a table holds the total."""
    return bool(_BARE_TOTAL.match(row))


def is_letter_or_prose(lines: Sequence[str]) -> bool:
    """Check whether lines are a letter, or prose of which a sentence goes on in the next line."""
    letter_lines = sum(bool(_LETTER_LINE.match(line)) for line in lines)
    if 0 < letter_lines < len(lines):
        return True
    if not any(line.lstrip()[:1].isupper() for line in lines):
        return False
    return any(
        second.lstrip()[:1].islower()
        and first.strip().count(" ") >= _WRAPPED_BLANKS
        and not _SENTENCE_END.search(first)
        for first, second in pairwise(lines)
    )


def find_framed_lists(lines: Sequence[str], kinds: Mapping[int, int]) -> Iterator[tuple[bool, range]]:
    """Yield the lists below the titles of a frame and below offers, with their titles.

    The truth value says whether the list is no part of the items for certain: notes, sources or an offer
    behind a list. A summary may be the list that the task wants.

    Args:
        lines: The lines of the answer.
        kinds: The kind of mark of each line that has one; those of a higher kind are nested.
    """
    behind = 0
    first = min(kinds, default=len(lines))
    for place, line in enumerate(lines):
        if place < behind or place in kinds or _FURTHER_IN.match(line) or _EXTRA.fullmatch(line):
            continue
        is_offer = bool(_OFFER.match(line) and _ENDS_WITH_COLON.search(line))
        if is_offer or _FRAME.fullmatch(line):
            behind = _find_end(lines, kinds, place + 1)
            if behind:
                yield place > first and bool(is_offer or _ASIDE.fullmatch(line)), range(place, behind)


def _find_end(lines: Sequence[str], kinds: Mapping[int, int], start: int) -> int:
    """Return the line behind the list that starts at a line or below empty lines; 0 if there is none."""
    while start < len(lines) and not lines[start].strip():
        start += 1
    if start not in kinds or _LATER_NUMBER.match(lines[start]):
        return 0
    end = start
    while end < len(lines) and (
        kinds.get(end, -1) >= kinds[start] or not lines[end].strip() or _FURTHER_IN.match(lines[end])
    ):
        end += 1
    return end
