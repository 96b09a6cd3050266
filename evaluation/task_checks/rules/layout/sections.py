"""Sections with a marker, titles in angle brackets, and highlighted parts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import regex

from evaluation.task_checks.demands.moods import can_demand, is_demanded, is_statement
from evaluation.task_checks.marks import QUOTED, SEPARATOR
from evaluation.task_checks.quantities import Bounds, find_quantities
from evaluation.task_checks.reading import Reading
from evaluation.task_checks.rules.finding import Finding
from evaluation.task_checks.sentences import Sentence
from evaluation.task_checks.things import Fields

_SECTION_MARK: Final = regex.compile(
    r"\b(?:mark|label|start|begin|note|nam|title|call|head|number|introduc|denot|indicat|preced|"
    r"with|as|by|like|e\.g|i\.e|explicitly|be|highlight|should|using|"
    rf"use)\w*\b[^.;\n]{{0,60}}?(?:(?P<quoted>{QUOTED})|(?<!\w)(?P<bare>(?!with|the|and|"
    r"a |same|equal|any )[a-z]+) (?:x|n|#|1|i|number)(?![\w']))"
)
_SECTION_NOUN: Final = regex.compile(
    r"[ -](?:(?!highlight|bold|ital|key|the|of)[a-z-]+ ){0,2}?(?:sections?|parts?|chapters?)\b"
)
_HIGHLIGHTS: Final = regex.compile(r"\b(?:highlight|bold|itali|emphasi)\w*\b[^.;]{0,30}$")
_NEGATED: Final = regex.compile(r"(?:\b(?:not|never|without)\b|n't\b)(?: \w+){0,2} ?$")
_SECTIONS: Final = regex.compile(r"\b(?:sections?|parts?|chapters?)\b")
_MARKER: Final = regex.compile(r"^\W*([A-Za-zÄÖÜäöü]+)\s*(?:[XxNn#]|\d+|I|\[\w\]|number)?\W*$")
_STANDS_OUT: Final = (
    r"(?:(?:(?:as|in|with|using|be|is|are) )?(?:highlight(?:ed|s|ing)?|bold(?:ed|face)?|italics?|"
    r"italici[sz]ed|"
    r"emphasi[sz]ed|underlined)|stand out|(?:in|with|between|using|inside) (?:single |double )?asterisks)"
)
_ENUMERATED: Final = regex.compile(
    r"(?<=[(: ])(?P<name>[a-z]+) (?:1|i|one)\b[^.;]{0,20}?\b(?P=name) (?:2|ii|two)\b"
)
_NUMBERED: Final = regex.compile(r"[XxNn#\d]\W*$|section|part|chapter", regex.I)
_LONGEST_SEARCH: Final = 500
_HIGHLIGHT: Final = regex.compile(
    r"\b(?P<verb>highlight|bold|bolden|italici[sz]e|emphasi[sz]e)(?:/\w+)?(?:ing|ed|"
    r"s)?\b(?P<gap>(?!,)[^.;]{0,60})"
)
_PUT_IN_BOLD: Final = regex.compile(
    r"\b(?P<verb>mark|make|put|set|render|write|format|display|show)\b(?P<gap>(?:(?! to\b)[^.;]){0,60}?)"
    rf" {_STANDS_OUT}\b"
)
_MARKED_UP: Final = regex.compile(
    r"\b(?P<verb>asterisks?|italics|bold(?: type|face| font| text)?|emphasis|highlighting|highlights?|"
    r"markdown)"
    r"(?: formatting| syntax)? (?:around|for|on|to)(?P<gap>[^.;]{0,60})"
)
_PORTION: Final = regex.compile(
    r"^[ -]*(?:up )?(?:[a-z-]+ ){0,4}?(?:sections?|parts?|phrases?|words?|key ?words?|terms?|"
    r"points?|passages?|texts?|sentences?|portions?|items?|areas?|names?|lines?|of|things?|"
    r"ideas?|facts?|aspects?|features?|elements?|concepts?|examples?|dishes|segments?|pieces?|"
    r"places?)\b"
)
_BE_HIGHLIGHTED: Final = regex.compile(
    r"^ (?:[a-z]+ ){0,2}?(?:sections?|parts?|phrases?|key ?words?|terms?|points?|passages?|"
    r"sentences?|portions?|items?|lines?)"
    r"(?: (?:of|in) (?:your|the) (?:\w+ )?\w+)?(?: (?:that|which) (?:is|are))?(?: (?:should|must|shall|"
    r"has to|"
    r"have to|needs? to|ought to|are to|to))?"
    rf"(?: be)?(?: (?:set|put|marked|shown|written|made|wrapped|placed|printed|formatted))? {_STANDS_OUT}\b"
)
_HIGHLIGHTING: Final = (_HIGHLIGHT, _PUT_IN_BOLD, _MARKED_UP)
_CAPITALS: Final = regex.compile(r"\b(?:caps|capitals?|upper ?-?case|capital letters)\b")
"""Words that are emphasised by their letters, which are no highlighted parts."""
_SOME: Final = regex.compile(
    r"\b(?:some|key|important|certain|main|the (?:key|main|most)|any|several|a few|major|"
    r"multiple|a (?:word|phrase|section|part|sentence|line))\b"
)
_TITLE: Final = regex.compile(r"\b(?:title|name|heading|headline|titled?)\b")
_ANGLES: Final = regex.compile(
    r"\bdouble (?:angular|angle[d]?|pointed|pointy) (?:brackets?|parenthes[ei]s)|"
    r"\bdouble angulars?|\bangular brackets|<< ?>>|\bdouble chevrons|\bdouble angle-brackets"
)
_WRAPPED: Final = regex.compile(r"\b(?:wrap(?:ped)?|enclosed?|put|placed?|surround(?:ed)?)\b[^.;]{0,40}$")
_ANGLED: Final = regex.compile("\ue002")


def find_sections(sentence: Sentence, reading: Reading) -> Iterator[Finding]:
    """Find the number of sections, of which the marker may stand in the same sentence or in a later one."""
    for quantity in find_quantities(sentence.text):
        noun = _SECTION_NOUN.match(sentence.text[quantity.end :])
        if not noun or _HIGHLIGHTS.search(sentence.text[: quantity.start]):
            continue
        if not is_demanded(sentence, quantity.start, quantity.end):
            continue
        marker = _find_marker(sentence, reading)
        start, end = sentence.start + quantity.start, sentence.start + quantity.end + noun.end()
        if marker:
            fields: Fields = {"check": "section_count", "marker": marker[0], **quantity.bounds.to_fields()}
            yield Finding(start, end, fields)
            yield Finding(*marker[1:])
        elif not _find_separator_near(sentence, reading):
            yield Finding(start, end)
        return


def find_highlights(sentence: Sentence, _: Reading) -> Iterator[Finding]:
    """Find the number of highlighted parts."""
    yield from _find_highlighted(sentence)
    for match in [match for pattern in _HIGHLIGHTING for match in pattern.finditer(sentence.text)]:
        before, place = sentence.text[: match.start()], match.start("gap")
        if _CAPITALS.search(match["gap"]):
            continue
        if _NEGATED.search(before) or _is_purpose(before, match["gap"]):
            continue
        bounds, end = _count_highlights(match)
        if bounds is None or not is_demanded(sentence, place, place + 1):
            continue
        style = _read_style(match["verb"], sentence.text[match.start() : match.end() + 40])
        fields: Fields = {"check": "highlight_count", **bounds.to_fields()}
        found = {**fields, "style": style} if style else fields
        yield Finding(sentence.start + match.start(), sentence.start + end, found)


def _read_style(verb: str, text: str) -> str:
    if verb.startswith("ital"):
        return "italic"
    return "bold" if verb.startswith("bold") else _find_style(text)


def _find_highlighted(sentence: Sentence) -> Iterator[Finding]:
    """Find parts that have to be highlighted: "Two or more sections should be highlighted"."""
    for quantity in find_quantities(sentence.text):
        match = _BE_HIGHLIGHTED.match(sentence.text[quantity.end :])
        if _HIGHLIGHTS.search(sentence.text[: quantity.start]):
            continue
        if match and (
            is_demanded(sentence, quantity.start, quantity.end) or is_statement(sentence, quantity.start)
        ):
            end = sentence.start + quantity.end + match.end()
            yield Finding(
                sentence.start + quantity.start,
                end,
                {"check": "highlight_count", **quantity.bounds.to_fields()},
            )


def _is_purpose(before: str, gap: str) -> bool:
    """Check for a reason, not a demand: "use capitals to highlight key points"."""
    is_purpose = regex.search(r"(?<!sure|need|want you|remember|have|try) to $", before)
    return bool(is_purpose) and next(iter(find_quantities(gap)), None) is None


def find_title(sentence: Sentence, _: Reading) -> Iterator[Finding]:
    """Find whether the output has to have a title in double angle brackets."""
    match = _ANGLES.search(sentence.text) or _ANGLED.search(sentence.text)
    if match is None or not can_demand(sentence):
        return
    title = _TITLE.search(sentence.text)
    if title is None:
        yield from _find_angled(sentence, match)
    elif any(is_demanded(sentence, part.start(), part.end()) for part in (match, title)):
        start, end = min(title.start(), match.start()), max(title.end(), match.end())
        fields: Fields = {"check": "title", "style": "angle_brackets"}
        yield Finding(sentence.start + start, sentence.start + end, fields)


def _find_angled(sentence: Sentence, match: regex.Match[str]) -> Iterator[Finding]:
    """Find another part than a title in double angle brackets; its check is the same."""
    wrapped = _WRAPPED.search(sentence.text[: match.start()])
    if wrapped and is_demanded(sentence, wrapped.start(), match.end()):
        start, end = sentence.start + wrapped.start(), sentence.start + match.end()
        yield Finding(start, end, {"check": "title", "style": "angle_brackets"})


def _find_marker(sentence: Sentence, reading: Reading) -> tuple[str, int, int] | None:
    """Find what starts each section, with its place: from this sentence on, or in an earlier one."""
    later = (sentence.start, min(len(reading.text), sentence.start + _LONGEST_SEARCH))
    earlier = (max(0, sentence.start - _LONGEST_SEARCH // 2), sentence.start)
    for first, last in (later, earlier):
        text = reading.text[first:last]
        sections = _SECTIONS.search(text)
        for match in _SECTION_MARK.finditer(text, max(0, sections.start() - 60) if sections else 0):
            marker = _read_marker(match, first, reading)
            if marker:
                return marker, first + match.start(), first + match.end()
    listed = _ENUMERATED.search(sentence.text)
    if listed is None:
        return None
    start, end = sentence.start + listed.start(), sentence.start + listed.end()
    return reading.quote(start, start + len(listed["name"])), start, end


def _read_marker(match: regex.Match[str], offset: int, reading: Reading) -> str | None:
    content = (
        reading.marks[offset + match.start("quoted")].content
        if match["quoted"]
        else reading.quote(offset + match.start("bare"), offset + match.end("bare"))
    )
    marker = _MARKER.match(content)
    is_named = not match["quoted"] or _NUMBERED.search(content)
    return marker[1] if marker and is_named else None


def _find_separator_near(sentence: Sentence, reading: Reading) -> bool:
    text = reading.text[sentence.start : sentence.start + 400]
    return SEPARATOR in text or bool(regex.search(r"asterisk|dashes|stars", text))


def _count_highlights(match: regex.Match[str]) -> tuple[Bounds | None, int]:
    quantity = next(iter(find_quantities(match["gap"])), None)
    if quantity:
        portion = _PORTION.match(match["gap"][quantity.end :])
        if portion is None:
            return None, 0
        return quantity.bounds, match.start("gap") + quantity.end + portion.end()
    some = _SOME.search(match["gap"])
    return (Bounds(1, None), match.start("gap") + some.end()) if some else (None, 0)


def _find_style(text: str) -> str:
    if (
        regex.search(r"\b(?:in|as|using|with) bold|\bbold(?:ed)?\b", text)
        and "ital" not in text
        and "/" not in text
    ):
        return "bold"
    return "italic" if regex.search(r"\b(?:in|as|using) italics?", text) and "bold" not in text else ""
