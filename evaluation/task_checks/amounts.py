"""Numbers of words, sentences, items and the like: "at most 50 words", "no commas"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from evaluation.task_checks.demands import OUTPUT, Fields, Finding
from evaluation.task_checks.reading import NUMBERS, QUOTED

NUMBER: Final = rf"(?:\d{{1,3}}(?:,\d{{3}})+|\d+|{'|'.join(sorted(NUMBERS, key=len, reverse=True))})"
_NEGATED: Final = r"(?:not|n't) (?:to )?(?:be |use |have |contain |write |go |appear )?"
_AT_LEAST: Final = (
    rf"at least|no (?:fewer|less|shorter) than|{_NEGATED}(?:shorter|less|fewer|below|under)(?: than)?|"
    r"(?:a )?minimum(?: of)?|min(?:imum)? length:?|min\.?:?"
)
_AT_MOST: Final = (
    rf"at most|no (?:more|longer|greater) than|{_NEGATED}(?:more than|longer than|exceed\w*|surpass|over)|"
    r"up to|(?:a )?maximum(?: of)?|max(?:imum)? length:?|max\.?:?|within|"
    r"(?:limit(?:ed)?|restrict(?:ed)?|keep|cap(?:ped)?)(?: \w+){0,4} (?:to|at)"
)
_BOUNDS: Final = (
    ("min", 0, _AT_LEAST),
    ("max", 0, _AT_MOST),
    ("min", 1, r"more than|over|above|exceeding|longer than"),
    ("max", -1, r"less than|fewer than|under|below|shorter than"),
    ("exactly", 0, r"exactly|precisely|a total of"),
    ("about", 0, r"about|around|approximately|roughly|approx\.?|~|circa|some|nearly"),
)
_AFTER: Final = (
    ("min", r"or (?:more|longer)|at least|minimum|min"),
    ("max", r"or (?:less|fewer|shorter)|at (?:the )?(?:most|maximum|outside)|maximum|max|tops|limit"),
)
_PRE: Final = "|".join(words for _, _, words in _BOUNDS)
_POST: Final = "|".join(words for _, words in _AFTER)
_UNITS: Final[tuple[tuple[str, Fields], ...]] = (
    (r"words?", {"check": "word_count"}),
    (r"sentences?", {"check": "sentence_count"}),
    (r"paragraphs?", {"check": "paragraph_count"}),
    (r"lines?", {"check": "line_count"}),
    (r"characters?(?: (?:including|with) spaces)?", {"check": "character_count"}),
    (r"bullet(?:s|ed)?(?:[- ](?:points?|items?))?", {"check": "list_item_count", "marker": "bullet"}),
    (r"numbered (?:items?|points?|steps?)", {"check": "list_item_count", "marker": "number"}),
    (r"(?:list items|items|points|entries|steps)", {"check": "list_item_count"}),
    (r"head(?:ing|er)s", {"check": "heading_count"}),
    (r"hash-?tags?", {"check": "letter_count", "letter": "#"}),
)
_ADJECTIVES: Final = r"(?:(?:full|short|long|different|total|separate|markdown|such) )*"
_UNIT: Final = "|".join(words for words, _ in _UNITS)
_COUNT: Final = re.compile(
    rf"(?:(?<![\w.$€£])|(?=n't ))(?:(?P<pre>{_PRE}|between|from|only|just|in|of|with) ?)?(?:an? )?"
    rf"(?<![\w.])(?P<low>{NUMBER})(?:\s?(?P<link>-|to|and|or)\s?(?P<high>{NUMBER}))?(?P<plus>\s?\+)?"
    rf"(?: (?P<early>or (?:more|fewer|less))\b)?(?P<gap>[ -]){_ADJECTIVES}(?P<unit>{_UNIT})(?![\w-])"
    rf"(?: (?:long|in (?:length|total)))?(?:,? ?\(?(?P<post>{_POST})\b\)?(?! {NUMBER}| than))?"
)
_TIMES: Final = re.compile(
    rf"(?:[^.;,\n{QUOTED}]{{0,45}}? )?(?P<pre>{_PRE}|between|only)? ?\b(?P<low>{NUMBER})(?: ?(?P<link>-|to"
    rf"|and|or) ?"
    rf"(?P<high>{NUMBER}))?(?P<plus>\+)?(?: (?P<early>or (?:more|fewer|less)))?(?P<times> times?)?"
    rf"(?: (?P<post>{_POST}))?(?!\w| or\b| (?:and|but) (?:at|no|not|less|fewer|more)\b)"
)
_MORE: Final = re.compile(
    rf"(?:,? (?:and|but)|,) (?P<pre>{_PRE}) (?P<low>{NUMBER})\b(?! ?-)(?! (?!on|in|for|about|of)\w)"
)
_PAIR: Final = re.compile(rf"\b(?P<pre>{_PRE}) (?P<low>{NUMBER}),? (?:and|but) $")
_LISTS: Final = {"number": "numbered", "bullet": "bullet", "any": "list"}
_OUTPUT_NOUN: Final = re.compile(rf"(?: [a-z]+)? (?:{OUTPUT}|limit)\b")
_SINGULARS: Final = frozenset({"word", "sentence", "paragraph", "line", "character"})
_NOT: Final = re.compile(
    r"(?:\b(?:not|never|no|none|nothing|without|nor|neither|cannot|dont|limit)|n't)\b[^,.;:]*$"
)
_THINGS: Final[tuple[tuple[str, Fields], ...]] = (
    (r"commas?", {"check": "punctuation", "mark": ",", "use": "absent"}),
    (r"exclamation (?:marks?|points?)", {"check": "punctuation", "mark": "!", "use": "absent"}),
    (r"question marks?", {"check": "punctuation", "mark": "?", "use": "absent"}),
    (r"semi-?colons?", {"check": "punctuation", "mark": ";", "use": "absent"}),
    (
        r"bullet[- ]?points?|bullets|bullet(?:ed)? lists?",
        {"check": "list_item_count", "marker": "bullet", "max": 0},
    ),
    (r"lists?", {"check": "list_item_count", "max": 0}),
    (r"headings?|headers?", {"check": "heading_count", "max": 0}),
    (r"tables?", {"check": "table", "use": "absent"}),
    (r"markdown(?: formatting| syntax)?", {"check": "markdown", "use": "absent"}),
    (r"hash-?tags?", {"check": "letter_count", "letter": "#", "max": 0}),
    (r"(?:capital|upper-? ?case)(?: letters?)", {"check": "letter_case", "style": "lower"}),
)
_THING: Final = "|".join(f"(?:{words})" for words, _ in _THINGS)
_BAN: Final = re.compile(
    r"(?:\b(?:no|without|avoid|avoiding|skip|omit|never|not|dont|refrain from|leave out)|n't)"
    r"(?: (?:use|using|include|including|contain|have|having|add|put|write|give me|the use of|any|an?"
    r"|single|to))*"
    rf" (?P<things>(?:{_THING})(?:(?:,| or| and| nor|,? and no|,? or any) (?:{_THING})(?!\w))*)(?!\w)"
    rf"|\b(?P<passive>{_THING}) (?:is|are|may|should|must) (?:not (?:be )?(?:allowed|used|appear)"
    rf"|forbidden|banned)\b"
)
_ROUNDED: Final = 20
"""Numbers of words from which a bare one allows a tenth more or less."""


def find_amounts(text: str) -> Iterator[Finding]:
    """Finds the numbers of things in a sentence."""
    matches = list(_COUNT.finditer(text))
    kinds = [_find_fields(match["unit"], _UNITS)["check"] for match in matches]
    for match in matches:
        unit = _name_marker(_find_fields(match["unit"], _UNITS), text)
        bounds = _read_bounds(match, str(unit["check"]) if unit else "")
        start, end = match.start(), match.end()
        if (pair := _PAIR.search(text[:start])) and bounds:
            bounds, start = {**_bound(pair, ""), **bounds}, pair.start()
        if (more := _MORE.match(text, end)) and bounds:
            bounds, end = {**bounds, **_bound(more, "")}, more.end()
        is_form = match["gap"] == "-" or (match["unit"] in _SINGULARS and 1 not in (bounds or {}).values())
        noun = _OUTPUT_NOUN.match(text, end) if is_form else None
        is_unsure = (is_form and noun is None) or (
            "exactly" in (bounds or {}) and kinds.count(unit["check"] if unit else "") > 1
        )
        check = {**unit, **bounds} if unit and bounds and not is_unsure else None
        yield Finding(start, noun.end() if noun else end, check)


def find_bans(text: str) -> Iterator[Finding]:
    """Finds things that the output may not have."""
    for match in _BAN.finditer(text):
        group = "things" if match["things"] else "passive"
        for thing in re.finditer(rf"(?:{_THING})(?!\w)", match[group]):
            start = match.start() if thing.start() == 0 else match.start(group) + thing.start()
            yield Finding(start, match.start(group) + thing.end(), _find_fields(thing.group(), _THINGS))


def read_times(text: str, place: int) -> tuple[Fields | None, int]:
    """Returns how often the words before a place have to occur, and where that is said; None if it is not."""
    match = _TIMES.match(text, place)
    if match is None or not (match["times"] or match["low"] in {"once", "twice", "thrice"}):
        return None, place
    return _read_bounds(match, "occurrences") or None, match.end()


def read_number(words: str) -> int:
    """Reads a number in digits or words."""
    return NUMBERS[words] if words in NUMBERS else int(words.replace(",", ""))


def _find_fields(words: str, table: tuple[tuple[str, Fields], ...]) -> Fields:
    return next(fields for pattern, fields in table if re.fullmatch(pattern, words))


def _name_marker(unit: Fields, text: str) -> Fields | None:
    """Returns the fields of items of a list; None if nothing says that the items stand in a list."""
    if unit != {"check": "list_item_count"}:
        return unit
    marker = next((name for name, word in _LISTS.items() if word in text), None)
    return None if marker is None else {**unit, "marker": marker}


def _read_bounds(match: re.Match[str], kind: str) -> Fields:
    """Returns the bounds of a number; none if they are unsure."""
    if match["high"] is not None:
        low, high = read_number(match["low"]), read_number(match["high"])
        is_range = match["link"] != "and" or match["pre"] == "between"
        return {"min": low, "max": high} if is_range and low < high else {}
    after = match["early"] or match["post"] or ("or more" if match["plus"] else None)
    if after:
        return {next(name for name, words in _AFTER if re.fullmatch(words, after)): read_number(match["low"])}
    return _bound(match, kind)


def _bound(match: re.Match[str], kind: str) -> Fields:
    number, pre = read_number(match["low"]), (match["pre"] or "").strip()
    named = ((name, offset) for name, offset, words in _BOUNDS if re.fullmatch(words, pre))
    name, offset = next(named, ("bare", 0))
    before = match.string[: match.start("pre") if pre else match.start("low")]
    if offset and _NOT.search(before):
        return {"max": number} if name == "min" else {}
    if name == "about" or (name == "bare" and kind == "word_count" and number >= _ROUNDED):
        return {"min": number - number // 10, "max": number + number // 10} if kind == "word_count" else {}
    if name == "bare":
        is_limit = kind == "character_count" or (kind == "occurrences" and _NOT.search(before))
        return {"max" if is_limit else "exactly": number}
    return {name: number + offset} if number + offset > 0 else {}
