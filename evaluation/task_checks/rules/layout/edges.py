"""The first and last words of the output, or of each of its parts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import regex

from evaluation.task_checks.demands.moods import is_demanded
from evaluation.task_checks.marks import QUOTED
from evaluation.task_checks.quantities import NUMBER
from evaluation.task_checks.reading import Reading
from evaluation.task_checks.rules.finding import Finding
from evaluation.task_checks.rules.layout.edge_alternatives import (
    build_edge_pattern,
    is_refused,
    read_alternatives,
)
from evaluation.task_checks.rules.layout.exact_words import EXACT, UNITS, WHOLE, is_free
from evaluation.task_checks.sentences import Sentence
from evaluation.task_checks.things import Fields

_UNIT: Final = r"(?P<unit>line|sentence|paragraph|stanza|verse|bullet point|bullet|list item|item)"
_WITH: Final = (
    r"(?:(?:off|up|out|it|things)? ?(?:with|by saying|by writing|by|on|in|like this|as follows|"
    r"exactly with|using)):?"
)
_STARTS: Final = regex.compile(
    r"\b(?:(?P<both>start|begin|open)s? and )?(?P<side>start|begin|open|commence|kick off|lead|launch|end|"
    r"finish|conclude|close|wrap up|round off|terminate|"
    rf"sign off)(?:s|es|ning|ing|ting)?(?: (?:{WHOLE}|(?:each|every|all)(?: of the| of your|"
    rf" your| the)? {_UNIT}s?))? {_WITH}(?: either)?{EXACT}{QUOTED}"
)
_SIDE_IS: Final = regex.compile(
    r"\b(?P<side>first|very first|opening|last|very last|final|closing|very end|end|ending|start|beginning)"
    r"(?: (?P<words>words?|sentence|line|phrase|paragraph|thing|text|part))?(?: (?:of|"
    rf"in) {WHOLE})?(?: (?:should|must|has to|have to|needs? to|shall|(?:is|are) to)(?: always)? (?:be|read|"
    rf"say)|(?<=^(?:the )?(?:very )?\w+(?: \w+)?) ?:|(?<=^\w+ (?:line|sentence|words?)) is){EXACT}{QUOTED}"
)
_PUT: Final = r"add|write|put|include|say|place|insert|append|state|print|mention|repeat|have|use|attach"
_AT_EDGE: Final = regex.compile(
    rf"\b(?:make|let|have) {QUOTED} (?:be )?(?:the|your) (?:very )?(?P<side>first|last|final|opening|"
    rf"closing)\b|"
    rf"\b(?:make|let) (?:the|your) (?:very )?(?P<side>first|last|final|opening|closing) "
    rf"(?:words?|sentence|line|phrase)(?: be)?{EXACT}{QUOTED}|"
    rf"\bat the (?:very )?(?P<side>end|start|beginning|top|bottom)(?: of {WHOLE})?,? (?:please )?"
    rf"(?:(?:should|must) appear|(?:(?:you )?(?:should|must) )?(?:{_PUT})){EXACT}{QUOTED}|\b(?:with|and|"
    rf"want|need|like|"
    rf"{_PUT}){EXACT}{QUOTED} "
    r"(?:at|as) (?:the|your) (?:very )?(?P<side>end|last|final|closing|bottom|beginning|start|top|first|"
    r"opening)\b"
    r"(?! (?:[a-z]+ )?(?:of|in) (?:each|every|the (?:first|second|third|last|final|title)))"
    rf"|\bat the (?:very )?(?P<side>end|start|beginning) (?:should|must){EXACT}{QUOTED} (?:appear|be|stand)"
    rf"|\b(?:should|must|and) with{EXACT}{QUOTED} (?P<side>start|begin|end)s?\b"
    rf"|{QUOTED} (?:should|must|has to|have to|needs? to) (?:be|come|stand)(?: (?:at|as|in))? (?:the|your) "
    r"(?:very )?(?P<side>last|final|closing|first|opening|end|beginning|start)\b(?! (?:paragraph|section))"
)
_NEXT_LINE: Final = regex.compile(
    r"\b(?P<side>start|begin|open|end|finish|conclude|close)(?:s|ing|ning|"
    rf"ting)?(?: {WHOLE})? (?:with|by saying)(?:{EXACT})?:?$"
)
_UNQUOTED: Final = regex.compile(
    r"\b(?P<side>start|begin|end|finish|conclude|close)(?:s|ing|ning|"
    rf"ting)?(?: {WHOLE})? with (?:this|the) exact "
    rf"(?:phrase|words|sentence|line):? (?P<rest>[^\s{QUOTED}].*)$"
)
_LINE_GAP: Final = regex.compile(r"[: ]*\n[: \n]*")
_POSTSCRIPT: Final = regex.compile(r"(?:p\.? ?){1,2}s\b\.?:?", regex.I)
_OTHER_MARKER: Final = regex.compile(r"(?:section|part|chapter)\b.{0,3}$|[#@*-]$", regex.I)
"""Texts that other rules read: what starts a section, a list item or a hashtag."""
_NEGATED: Final = regex.compile(
    r"(?:\b(?:not|never|avoid|no|none|neither|nor|without)\b|n't\b)(?: (?!and\b|"
    r"but\b)\w+){0,4} ?$"
)
_CONTINUED: Final = regex.compile(r",? (?:followed by|and then|then|and (?:below|under|after) )\b")
"""After words that are not the last ones: 'end with "Yours," followed by a name'."""
_OTHER_TEXT: Final = regex.compile(rf",? ?(?:or|nor)(?: with| by)? {QUOTED}|,(?: and)? {QUOTED}")
"""One of several texts: 'begin with "Yes" or "No"', 'start the paragraphs with "First", "Second"'."""
_ASIDE: Final = regex.compile(r"\([^()]{1,60}\) ?")
_STOP: Final = regex.compile(r"[!?.]")
_PART: Final = regex.compile(
    r"\b(?:first|second|third|fourth|fifth|last|final|paragraph \d+|line \d+|paragraph|"
    rf"postscript|section|title|sentence|line|names?|(?<!{NUMBER} )words?|which|who|p\.?s|[a-z]+ \d+(?= $)|"
    r"\d+(?:st|nd|rd|th)|"
    r"(?:each|every|this|that|first|second|third|last|next|other) one|column|"
    rf"headings?|keys?|items?|each|{NUMBER} (?:lines|sentences|paragraphs|bullets)(?= $)|"
    rf"{NUMBER} of (?:them|these|which))\b"
)
_BESIDE_FIRST: Final = regex.compile(
    r"(?:the |your )?(?:very )?(?:first|opening) (?:words?|phrase) (?:should|must|has to|have to|needs? to) "
    rf"be{EXACT}{QUOTED},? (?:and|but) (?:the |your )?(?:very )?"
)
"""Before the last word: 'The first word must be "Up" and the'."""
_EACH: Final = regex.compile(
    rf"\b(?:each|every|all|any)(?: of the)? {_UNIT}s?\b[^.;]{{0,40}}$"
    rf"|\b{_UNIT}s\b[^.;]{{0,60}},? (?:and )?(?:each|each one|all)(?: of (?:them|which))? $"
    rf"|(?<!{NUMBER} )\b{_UNIT}s (?:that |which )?$"
)
_EACH_OBJECT: Final = regex.compile(rf"\b(?:each|every)(?: of the)? {_UNIT}\b")
_NOTED: Final = regex.compile(
    rf"(?:^|[,;] ?(?:and )?|\band )at the (?:very )?(?P<side>end|start|beginning|top|bottom),? {QUOTED}$"
)
_BARE_SIDE: Final = regex.compile(
    r"\b(?P<side>start|begin|end|finish|conclude)(?:s|ing|ning|"
    rf"ting)?(?: {WHOLE}| (?:each|every|all)(?: of the| of your| your|"
    rf" the)? {_UNIT}s?)? with the (?:exact )?(?P<noun>words?|phrase|line) (?P<bare>[a-z][a-z'-]*)(?=$|"
    r"[,;]| (?:and|but)\b)"
)
_LONGEST_TEXT: Final = 200


def find_edges(sentence: Sentence, reading: Reading) -> Iterator[Finding]:
    """Find the words that the output, or each of its parts, starts or ends with."""
    for match in _STARTS.finditer(sentence.text):
        # "It starts with": the verb is the statement that demands the words after it.
        if any(is_demanded(sentence, place, match.end()) for place in (match.start(), match.end() - 1)):
            for side in filter(None, (match["both"], match["side"])):
                yield from _build_edge(sentence, reading, match, side)
    for match in _find_statements(sentence):
        yield from _build_edge(sentence, reading, match, match["side"])


def _find_statements(sentence: Sentence) -> Iterator[regex.Match[str]]:
    """Find statements of the first or last words, and notes of them without a verb."""
    for match in _SIDE_IS.finditer(sentence.text):
        if match["words"] not in {"paragraph", "part"} and is_free(sentence, match):
            yield match
    yield from (match for match in _AT_EDGE.finditer(sentence.text) if is_free(sentence, match))
    noted = _NOTED.search(sentence.text)
    if noted and is_demanded(sentence, noted.start(), noted.end()):
        yield noted


def find_next_line(sentence: Sentence, reading: Reading) -> Iterator[Finding]:
    """Find the words to start or end with that stand in the line below, or without quotation marks."""
    yield from _find_unquoted(sentence, reading)
    yield from _find_below(sentence, reading)
    for match in _BARE_SIDE.finditer(sentence.text):
        before = sentence.text[: match.start()]
        each = _EACH.search(before) or _EACH_OBJECT.search(match.group())
        is_part = not each and _is_part(before, match)
        if is_part or not is_demanded(sentence, match.start(), match.end()):
            continue
        text = reading.quote(sentence.start + match.start("bare"), sentence.start + match.end("bare"))
        if match["noun"] == "line" and not text.isupper():
            continue
        start, end = sentence.start + match.start(), sentence.start + match.end()
        yield Finding(start, end, _build_fields(text, match["side"], UNITS[each["unit"]] if each else None))


def _find_below(sentence: Sentence, reading: Reading) -> Iterator[Finding]:
    """Find "Finish with:" and the words in the next line."""
    match = _NEXT_LINE.search(sentence.text)
    gap = _LINE_GAP.match(reading.text, sentence.start + len(sentence.text))
    if not match or not gap or not is_demanded(sentence, match.start(), match.end()):
        return
    end = reading.text.find("\n", gap.end())
    end = len(reading.text) if end < 0 else end
    text = reading.quote(gap.end(), end).strip("\"'“”")
    if text and len(text) < _LONGEST_TEXT:
        yield Finding(sentence.start + match.start(), end, {"check": _name(match["side"]), "text": text})


def _find_unquoted(sentence: Sentence, reading: Reading) -> Iterator[Finding]:
    """Find "End with this exact phrase Anything else?": a sentence of its own without quotation marks."""
    match = _UNQUOTED.search(sentence.text)
    if not match or not is_demanded(sentence, match.start(), match.end()):
        return
    start, place, end = (
        sentence.start + number for number in (match.start(), match.start("rest"), match.end())
    )
    if reading.original(place).isupper():
        stop = end + (reading.text[end : end + 1] in {".", "!", "?"})
        yield Finding(start, stop, {"check": _name(match["side"]), "text": reading.quote(place, stop)})


def _build_edge(
    sentence: Sentence, reading: Reading, match: regex.Match[str], side: str
) -> Iterator[Finding]:
    start, end = sentence.start + match.start(), sentence.start + match.end()
    text = next(mark for mark in reading.get_marks(start, end) if mark.character == QUOTED).content.strip()
    before = sentence.text[: match.start()]
    each = _EACH.search(before) or _EACH_OBJECT.search(match.group())
    if _POSTSCRIPT.fullmatch(text):
        yield Finding(start, end, {"check": "postscript", "marker": text})
    elif _NEGATED.search(before):
        is_none = is_refused(before) and not each and not _is_part(before, match)
        yield _build_alternatives(sentence, reading, match, side if is_none else None)
    elif _is_open(sentence.text, match.end(), side):
        is_one = (
            not each and not _is_part(before, match) and not _is_continued(sentence.text, match.end(), side)
        )
        yield _build_alternatives(sentence, reading, match, side if is_one else None)
    elif not _OTHER_MARKER.match(text):
        is_whole = each or not _is_part(before, match)
        fields = _build_fields(text, side, UNITS[each["unit"]] if each else None)
        yield Finding(start, end, fields if is_whole else None)


def _build_alternatives(
    sentence: Sentence, reading: Reading, match: regex.Match[str], side: str | None
) -> Finding:
    """Build the check that the output has one of several texts at a side, or none of them if refused."""
    texts, end = read_alternatives(sentence, reading, match)
    is_none = _NEGATED.search(sentence.text[: match.start()]) is not None
    place = (sentence.start + match.start(), sentence.start + end)
    if side is None or match.re is not _STARTS or (len(texts) == 1 and not is_none):
        return Finding(*place)
    starts = _name(side) == "starts_with"
    return Finding(*place, build_edge_pattern(texts, starts=starts, matches=not is_none))


def _build_fields(text: str, side: str, each: str | None) -> Fields:
    if each and _STOP.fullmatch(text) and side in {"end", "finish"}:
        return {"check": "punctuation", "mark": text, "use": "end_of_sentences"}
    return {"check": _name(side), "text": text, **({"each": each} if each else {})}


def _is_part(before: str, match: regex.Match[str]) -> bool:
    """Check whether a part of the output starts so, and not the output."""
    if _BESIDE_FIRST.fullmatch(before):
        return False
    # "Every other line (the 2nd, 4th ...) starts with": the aside is no clause.
    words = regex.split(r"[,;:.]| and (?=\w+ with)", _ASIDE.sub("", before))[-1][-50:]
    part = _PART.search(words)
    return (
        bool(part)
        or "postscript" in words
        or regex.search(
            r"\b(?:section|paragraph|line|sentence|title|item|bullet)s?\b",
            match.groupdict().get("object") or "",
        )
        is not None
    )


def _name(side: str) -> str:
    starts = ("start", "begin", "open", "commence", "kick", "lead", "launch", "first", "very first", "top")
    return "starts_with" if side.startswith(starts) else "ends_with"


def _is_open(text: str, end: int, side: str) -> bool:
    """Check whether the words at the end may not be the whole literal, or not its only one."""
    return _is_continued(text, end, side) or _OTHER_TEXT.match(text, end) is not None


def _is_continued(text: str, end: int, side: str) -> bool:
    return _name(side) == "ends_with" and _CONTINUED.match(text, end) is not None
