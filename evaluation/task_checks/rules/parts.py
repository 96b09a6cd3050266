"""Parts of the output: separated parts, sections, highlights, titles, and one of several answers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import regex

from evaluation.task_checks.finding import Finding
from evaluation.task_checks.marks import QUOTED, SEPARATOR
from evaluation.task_checks.moods import is_demanded, is_statement
from evaluation.task_checks.quantities import NUMBER, Bounds, find_quantities, read_number
from evaluation.task_checks.reading import Reading
from evaluation.task_checks.sentences import Sentence
from evaluation.task_checks.things import Fields

_SIGNS: Final = {
    "asterisk": "*",
    "star": "*",
    "dash": "-",
    "hyphen": "-",
    "equal": "=",
    "equals": "=",
    "underscore": "_",
    "hash": "#",
    "pound": "#",
    "tilde": "~",
    "plus": "+",
}
_SPELLED: Final = (
    rf"(?P<number>{NUMBER}) (?P<sign>asterisk|star|dash|hyphen|equals?|underscore|hash|pound|tilde|"
    r"plus)(?:e?s)?(?: (?:symbols?|signs?|marks?|characters?))?"
)
_SPELLED_SIGN: Final = regex.compile(_SPELLED)
_LONGEST_SEPARATOR: Final = 50
_DIVIDES: Final = regex.compile(
    r"\b(?:separat\w*|divid\w*|split\w*|delimit\w*|between|following|followed by|broken|break\w*|mark\w*)\b"
)
_SEPARATION: Final = regex.compile(
    r"\b(?:separat\w*|divid\w*|split\w*|delimit\w*|put|place|use|insert|following|followed by|"
    rf"break)\b[^.;]{{0,90}}?(?:\(?(?P<mark>{SEPARATOR})\)?|(?P<spelled>{_SPELLED}))"
    rf"|(?:(?P<mark>{SEPARATOR})|(?P<spelled>{_SPELLED}))[^.;]{{0,20}}\b(?:between|to separate|"
    r"as (?:a |the )?(?:separator|divider|delimiter))\b"
)
_PARTS: Final = (
    r"(?:responses?|answers?|replies|versions?|alternatives?|parts?|paragraphs?|sections?|jokes?|"
    r"poems?|options?|outputs?|names|stories|texts?|variants?|examples?|solutions?|snippets?|"
    r"summaries|suggestions?|ideas?|drafts?|slogans?|riddles?|translations?|letters?|emails?|"
    r"recipes?|descriptions?|essays?|pieces?|blocks?|takes?|tweets?|haikus?|limericks?|[a-z]+s)"
)
_NUMBER_OF_PARTS: Final = regex.compile(
    rf"(?P<low>{NUMBER}) (?:(?!and\b|or\b|of\b|to\b)[a-z'-]+ ){{0,3}}?{_PARTS}\b"
)
_BOTH: Final = regex.compile(
    r"\b(?:both|the two|two|each other|a pair)\b|\b(?:the|your|an?) [a-z ]{2,30} (?:and|"
    r"from) (?:the|your|an?) [a-z]+|\bfirst\b.{0,200}\b(?:then|second)\b|"
    r"\b[a-z]+ and [a-z]+ (?:code |)(?:snippets|versions|parts|answers)"
)
_DIFFERENT: Final = regex.compile(r"\b(?:different|distinct|alternative|unique|responses|answers|versions)\b")
_PARTS_ARE: Final = regex.compile(
    r"(?:^|[,;] )(?:the |your |both |all |these )?(?:two |"
    rf"\w+ )?{_PARTS}(?: and only \w+)? (?:are|is|will be|to be) \w+"
)
_SHOWS: Final = regex.compile(
    r"\b(?:(?:following|exact|this|the|below) (?:the |this )?(?:following )?(?:format|form|pattern|structure|template|layout)"
    r"|look like|like this|such as|example)\b[^.;]{0,20}:?$"
)
_LONGEST_PATTERN: Final = 600
_LONGEST_LINE: Final = 80
_SECTION_COUNT: Final = regex.compile(
    rf"(?<!\w)(?P<low>{NUMBER})(?P<plus> ?\+)?[ -](?:[a-z-]+ ){{0,2}}?(?:sections?|parts?|chapters?)\b"
)
_SECTION_MARK: Final = regex.compile(
    r"\b(?:mark|label|start|begin|note|nam|title|call|head|number|introduc|denot|indicat|preced|"
    r"with|as|by|like|e\.g|i\.e|explicitly|be|highlight|should|using|"
    rf"use)\w*\b[^.;\n]{{0,60}}?(?:(?P<quoted>{QUOTED})|(?<!\w)(?P<bare>(?!with|the|and|"
    r"a )[a-z]+) (?:x|n|#|1|i|number)(?![\w']))"
)
_SECTIONS: Final = regex.compile(r"\b(?:sections?|parts?|chapters?)\b")
_MARKER: Final = regex.compile(r"^\W*([A-Za-zÄÖÜäöü]+)\s*(?:[XxNn#]|\d+|I|\[\w\]|number)?\W*$")
_HIGHLIGHT: Final = regex.compile(
    r"\b(?P<verb>highlight|bold|bolden|italici[sz]e|emphasi[sz]e)(?:/\w+)?(?:ing|ed|s)?\b(?P<gap>[^.;]{0,60})"
)
_HIGHLIGHT_AFTER: Final = regex.compile(
    r"\b(?:put|make|set|write|format|mark|have|with|use)\b[^.;]{0,60}?\b(?:in|be|"
    r"as)? ?(?P<style>bold|italics?|italicized|bolded)\b"
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
    r"(?: (?:of|in) (?:your|the) \w+)?(?: (?:that|which) (?:is|are))?(?: (?:should|must|has to|"
    r"have to|needs? to|to))?"
    r"(?: be)? (?:highlighted|bold(?:ed)?|italici[sz]ed|emphasi[sz]ed|in bold|in italics)\b"
)
_SOME: Final = regex.compile(
    r"\b(?:some|key|important|certain|main|the (?:key|main|most)|any|several|a few|major|"
    r"multiple|a (?:word|phrase|section|part|sentence|line))\b"
)
_MARKDOWN: Final = regex.compile(
    r"\bmarkdown\b|\bbold\b|itali|\basterisks?\b|highlighted|in your (?:response|answer)"
)
_TITLE: Final = regex.compile(r"\b(?:title|name|heading|headline|titled?)\b")
_ANGLES: Final = regex.compile(
    r"\bdouble (?:angular|angle[d]?|pointed|pointy) (?:brackets?|parenthes[ei]s)|"
    r"\bdouble angulars?|\bangular brackets|<< ?>>|\bdouble chevrons|\bdouble angle-brackets"
)
_WRAPPED: Final = regex.compile(r"\b(?:wrap(?:ped)?|enclosed?|put|placed?|surround(?:ed)?)\b[^.;]{0,40}$")
_ANGLED: Final = regex.compile("\ue002")
_CHOICE: Final = regex.compile(
    r"\b(?:choose|choosing|pick|select|answer|respond|reply|selecting|say|one of|options?|be|"
    rf"include|use|from|output|with|write)\b[^.;]{{0,70}}?(?P<list>[\[(]?{QUOTED}(?:(?:,| or|"
    rf", or| and|, and| /|/|;|\n)\s?{QUOTED})+[\])]?)"
)
_CHOOSES: Final = regex.compile(
    r"\b(?:one of|choose|pick|select|either|options?|only|just|simply|choices?|nothing else|"
    r"exactly one|options|following)\b|\bor\b"
)
_PLAIN_CHOICE: Final = regex.compile(
    r"\b(?:answer|respond|reply|say|output|return)(?: with| by saying| only| just| simply|"
    r" either| the word| a| the| me| simple| your)*(?P<list> (?P<first>yes|true|agree|correct|"
    r"positive|spam|male|real)(?P<rest>(?:, | or |/|, or )(?:no|false|maybe|disagree|incorrect|"
    r"negative|neutral|unknown|fake|not spam|ham|unsure))+)\b"
)
_LIST_CHOICE: Final = regex.compile(r"(?P<verb>choose|pick|select|one of|options)")
_NOT_BEFORE: Final = regex.compile(r"\b(?:not|never|cannot|avoid|without)\b[^.;,]{0,20}$|n't\b[^.;,]{0,20}$")
_SHORT_CHOICE: Final = regex.compile(
    r"^(?:(?:just|only|please),? )?(?P<list>(?:yes|true|agree)(?: or |/)(?:no|false|"
    r"disagree))(?: only| please|, please|, nothing else|$)"
)
_HAS: Final = regex.compile(r"(?:include|use|with|contain)")
_NAMED_OPTIONS: Final = regex.compile(r"\b(?:one of|options?|choices?|alternatives?)\b")
_ALONE: Final = regex.compile(r"\b(?:only|nothing else|just|nothing but|no other|and nothing|alone)\b")


def find_separated(sentence: Sentence, reading: Reading) -> Iterator[Finding]:
    """Find the number of parts and what stands between them."""
    for match in _SEPARATION.finditer(sentence.text):
        if not _DIVIDES.search(sentence.text) or not _is_separation_demanded(sentence, match):
            continue
        separator = _read_separator(sentence, reading, match)
        number = _count_parts(sentence, reading, match, separator)
        if not separator:
            continue
        start, end = sentence.start + match.start(), sentence.start + match.end()
        fields: Fields = {"check": "part_count", "separator": separator}
        if number is None:
            yield Finding(start, end, {**fields, "min": 2})
            continue
        yield Finding(start, end, {**fields, "exactly": number})
        return


def find_shown_parts(sentence: Sentence, reading: Reading) -> Iterator[Finding]:
    """Find the number of parts in a pattern that the task shows, with separators between its lines."""
    match = _SHOWS.search(sentence.text)
    if not match or not is_demanded(sentence, match.start(), match.end()):
        return
    end = sentence.start + len(sentence.text)
    shown = reading.text[end : end + _LONGEST_PATTERN]
    lines = [line.strip() for line in shown.split("\n")]
    separators = [place for place, line in enumerate(lines) if line == SEPARATOR]
    if separators and _has_short_lines(lines[: separators[-1]]):
        marks = [mark for mark in reading.get_marks(end, end + len(shown)) if mark.character == SEPARATOR]
        start = sentence.start + match.start()
        fields: Fields = {
            "check": "part_count",
            "separator": marks[0].content,
            "exactly": len(separators) + 1,
        }
        yield Finding(start, sentence.start + match.end(), fields)


def _has_short_lines(lines: list[str]) -> bool:
    return all(len(line) <= _LONGEST_LINE for line in lines)


def _is_separation_demanded(sentence: Sentence, match: regex.Match[str]) -> bool:
    verb = match.start() + len(match.group().split()[0])
    if is_demanded(sentence, match.start(), match.end()) or is_demanded(sentence, verb, match.end()):
        return True
    if _PARTS_ARE.search(sentence.text[: match.end()]) and is_statement(sentence, match.start()):
        return True
    # "3 paragraphs separated by ***": the number before decides.
    before = [quantity for quantity in find_quantities(sentence.text) if quantity.end <= match.start()]
    return bool(before) and is_demanded(sentence, before[-1].start, before[-1].end)


def find_sections(sentence: Sentence, reading: Reading) -> Iterator[Finding]:
    """Find the number of sections, of which the marker may stand in the same sentence or in a later one."""
    for quantity in find_quantities(sentence.text):
        noun = regex.match(
            r"[ -](?:(?!highlight|bold|ital|key|the|of)[a-z-]+ ){0,2}?(?:sections?|parts?|chapters?)\b",
            sentence.text[quantity.end :],
        )
        if not noun or not is_demanded(sentence, quantity.start, quantity.end):
            continue
        if regex.search(
            r"\b(?:highlight|bold|itali|emphasi)\w*\b[^.;]{0,30}$", sentence.text[: quantity.start]
        ) or _is_highlighted(sentence, quantity.end):
            continue
        marker = _find_marker(sentence, reading)
        start, end = sentence.start + quantity.start, sentence.start + quantity.end + noun.end()
        if marker is None:
            if not _find_separator_near(sentence, reading):
                yield Finding(start, end)
            return
        yield Finding(start, end, {"check": "section_count", "marker": marker, **quantity.bounds.to_fields()})
        return


def find_highlights(sentence: Sentence, _: Reading) -> Iterator[Finding]:
    """Find the number of highlighted parts."""
    yield from _find_highlighted(sentence)
    for match in _HIGHLIGHT.finditer(sentence.text):
        if (
            not is_demanded(sentence, match.start("gap"), match.start("gap") + 1)
            or _is_purpose(sentence.text[: match.start()], match["gap"])
            or regex.search(
                r"\b(?:not|don't|n't|never|without)\b(?: \w+){0,2} ?$", sentence.text[: match.start()]
            )
        ):
            continue
        bounds, end = _count_highlights(match)
        if bounds is None:
            continue
        style = (
            "italic"
            if match["verb"].startswith("ital")
            else "bold"
            if match["verb"].startswith("bold")
            else _find_style(sentence.text[match.start() : match.end() + 40])
        )
        fields: Fields = {
            "check": "highlight_count",
            **({"style": style} if style else {}),
            **bounds.to_fields(),
        }
        yield Finding(sentence.start + match.start(), sentence.start + end, fields)


def _find_highlighted(sentence: Sentence) -> Iterator[Finding]:
    """Find parts that have to be highlighted: "Two or more sections should be highlighted"."""
    for quantity in find_quantities(sentence.text):
        match = _BE_HIGHLIGHTED.match(sentence.text[quantity.end :])
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
    if sentence.is_data or (
        sentence.is_question and not regex.match(r"(?:can|could|would|will) you", sentence.text)
    ):
        return
    match = _ANGLES.search(sentence.text) or _ANGLED.search(sentence.text)
    title = _TITLE.search(sentence.text)
    if match and title is None:
        yield from _find_angled(sentence, match)
    if (
        match is None
        or title is None
        or (
            not is_demanded(sentence, match.start(), match.end())
            and not is_demanded(sentence, title.start(), title.end())
        )
    ):
        return
    if regex.search(r"\b(?:explain|meaning|what)\b", sentence.text[: match.start()]):
        return
    start, end = min(title.start(), match.start()), max(title.end(), match.end())
    yield Finding(sentence.start + start, sentence.start + end, {"check": "title", "style": "angle_brackets"})


def _find_angled(sentence: Sentence, match: regex.Match[str]) -> Iterator[Finding]:
    """Find another part than a title in double angle brackets; its check is the same."""
    wrapped = _WRAPPED.search(sentence.text[: match.start()])
    if wrapped and is_demanded(sentence, wrapped.start(), match.end()):
        start, end = sentence.start + wrapped.start(), sentence.start + match.end()
        yield Finding(start, end, {"check": "title", "style": "angle_brackets"})


def find_choice(sentence: Sentence, reading: Reading) -> Iterator[Finding]:
    """Find the answers of which the output has to be one."""
    for match in _CHOICE.finditer(sentence.text):
        if not _CHOOSES.search(match.group()) or not (
            is_demanded(sentence, match.start() + 3, match.end())
            or is_demanded(sentence, match.start("list"), match.end("list"))
        ):
            continue
        if regex.search(
            r"\b(?:words?|keywords?|phrases?|terms?|not|avoid|without)\b|n't\b",
            match.group()[: match.start("list") - match.start()],
        ) and not regex.search(r"\b(?:following|one of|only|exact)\b", match.group()):
            continue
        if _NOT_BEFORE.search(sentence.text[: match.start()]) or (
            _HAS.match(match.group()) and not _NAMED_OPTIONS.search(match.group())
        ):
            continue
        marks = reading.get_marks(sentence.start + match.start("list"), sentence.start + match.end("list"))
        yield from _build_choice(sentence, match, [mark.content.strip().rstrip(",;") for mark in marks])
        return
    yield from _find_short_choice(sentence, reading)
    for match in _PLAIN_CHOICE.finditer(sentence.text):
        if is_demanded(sentence, match.start("list"), match.end("list")):
            text = reading.quote(sentence.start + match.start("list"), sentence.start + match.end("list"))
            yield from _build_choice(
                sentence, match, [part for part in regex.split(r",? or |, |/", text.strip()) if part]
            )


def _find_short_choice(sentence: Sentence, reading: Reading) -> Iterator[Finding]:
    """Find "Yes or no only."."""
    match = _SHORT_CHOICE.match(sentence.text)
    if match and not sentence.is_data:
        start, end = sentence.start + match.start("list"), sentence.start + match.end("list")
        yield from _build_choice(sentence, match, regex.split(r" or |/", reading.quote(start, end)))


def _build_choice(sentence: Sentence, match: regex.Match[str], options: list[str]) -> Iterator[Finding]:
    if len(options) < 2 or not all(options) or any(not regex.search(r"\w", option) for option in options):  # noqa: PLR2004
        return
    fields: Fields = {"check": "one_of", "options": options}
    if _ALONE.search(sentence.text):
        fields["alone"] = True
    yield Finding(sentence.start + match.start(), sentence.start + match.end(), fields)


def _read_separator(sentence: Sentence, reading: Reading, match: regex.Match[str]) -> str:
    spelled = _SPELLED_SIGN.search(match.group())
    if spelled:
        return _SIGNS[spelled["sign"]] * min(read_number(spelled["number"]) or 0, _LONGEST_SEPARATOR)
    place = sentence.text.find(SEPARATOR, match.start(), match.end() + 12)
    return reading.marks[sentence.start + place].content if place >= 0 else ""


def _count_parts(sentence: Sentence, reading: Reading, match: regex.Match[str], separator: str) -> int | None:
    """Read the number of parts: from this sentence, from an example, or from the sentences before."""
    own = _find_number(sentence.text[: match.end()])
    if own is not None:
        return own
    shown = _count_shown(sentence, reading, separator)
    if shown:
        return shown
    if _BOTH.search(sentence.text):
        return 2
    before = reading.text[max(0, sentence.start - 500) : sentence.start]
    return _find_number(before) or (2 if len(separator) == 6 or _BOTH.search(before) else None)  # noqa: PLR2004


def _find_number(text: str) -> int | None:
    numbers = [
        found
        for found in _NUMBER_OF_PARTS.finditer(text)
        if not regex.search(
            r"asterisk|star|dash|hyphen|line|symbol|word|sentence|week|hour|day|year|minute|"
            r"gallon|dollar|time",
            found.group(),
        )
    ]
    values = [read_number(found["low"]) for found in numbers]
    return next((value for value in reversed(values) if value and value > 1), None)


def _count_shown(sentence: Sentence, reading: Reading, separator: str) -> int | None:
    """Count the parts of an example: lines with separators between them."""
    end = sentence.start + len(sentence.text)
    shown = [
        mark
        for mark in reading.get_marks(end, min(end + 600, len(reading.text)))
        if mark.character == SEPARATOR and mark.content == separator
    ]
    return len(shown) + 1 if shown else None


def _find_marker(sentence: Sentence, reading: Reading) -> str | None:
    """Find what starts each section, in the rest of the paragraphs from this sentence on."""
    end = min(len(reading.text), sentence.start + 500)
    text = reading.text[sentence.start : end]
    sections = _SECTIONS.search(text)
    for match in _SECTION_MARK.finditer(text, max(0, sections.start() - 60) if sections else 0):
        content = (
            reading.marks[sentence.start + match.start("quoted")].content
            if match["quoted"]
            else reading.quote(sentence.start + match.start("bare"), sentence.start + match.end("bare"))
        )
        marker = _MARKER.match(content)
        if marker and (
            not match["quoted"] or regex.search(r"[XxNn#\d]\W*$|section|part|chapter", content, regex.I)
        ):
            return marker[1]
    return None


def _find_separator_near(sentence: Sentence, reading: Reading) -> bool:
    text = reading.text[sentence.start : sentence.start + 400]
    return SEPARATOR in text or bool(regex.search(r"asterisk|dashes|stars", text))


def _is_highlighted(sentence: Sentence, end: int) -> bool:
    return bool(regex.match(r" (?:highlighted|bold|italic)", sentence.text[end:]))


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
