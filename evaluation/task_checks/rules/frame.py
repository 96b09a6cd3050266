"""The start, the end and the frame of the output: first and last words, quotation marks, postscript."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import regex

from evaluation.task_checks.finding import Finding
from evaluation.task_checks.marks import QUOTED
from evaluation.task_checks.moods import is_demanded
from evaluation.task_checks.quantities import read_number
from evaluation.task_checks.reading import Reading
from evaluation.task_checks.sentences import Sentence
from evaluation.task_checks.things import Fields

_UNITS: Final = {
    "line": "line",
    "sentence": "sentence",
    "paragraph": "paragraph",
    "stanza": "paragraph",
    "verse": "paragraph",
    "bullet point": "list_item",
    "bullet": "list_item",
    "item": "list_item",
    "list item": "list_item",
}
_UNIT: Final = r"(?P<unit>line|sentence|paragraph|stanza|verse|bullet point|bullet|list item|item)"
_WHOLE: Final = (
    r"(?:(?:your|the|this|its|my|it|everything|all)(?: (?:entire|whole|complete|full|final|"
    r"very))*(?: (?P<object>[a-z-]+))?)"
)
_WITH: Final = (
    r"(?:(?:off|up|out|it|things)? ?(?:with|by saying|by writing|by|on|in|like this|as follows|"
    r"exactly with|using)):?"
)
_EXACT: Final = (
    r"(?: ?(?:exactly|only|just|verbatim|always))?(?: (?:the|this|these|a|an))?(?: (?:exact|"
    r"following|exact same|literal|closing|opening|final|single|very|same|words?|phrases?|sentences?|"
    r"text|line|question|term|expression|sign-off|greeting|keyword|statement|words of|letters?|"
    r"character|string))*:?\s?"
)
_STARTS: Final = regex.compile(
    r"\b(?P<side>start|begin|open|commence|kick off|end|finish|conclude|close|wrap up|"
    rf"sign off)(?:s|es|ning|ing|ting)?(?: (?:{_WHOLE}|(?:each|every|all)(?: of the| of your|"
    rf" your| the)? {_UNIT}s?))? {_WITH}{_EXACT}{QUOTED}"
)
_SIDE_IS: Final = regex.compile(
    r"\b(?P<side>first|very first|opening|last|very last|final|closing|"
    r"very end)(?: (?P<words>words?|sentence|line|phrase|paragraph|thing|text|part))?(?: (?:of|"
    rf"in) {_WHOLE})? (?:should|must|has to|have to|needs to|shall|is to)(?: always)? (?:be|read|"
    rf"say){_EXACT}{QUOTED}"
)
_END_MUST: Final = regex.compile(
    rf"\b(?:the )?(?:very )?(?:end|ending) of {_WHOLE} (?:should|must|has to|needs to) (?:be|"
    rf"read|say){_EXACT}{QUOTED}"
    rf"|\b(?:with|and|include|add|put|place){_EXACT}{QUOTED} (?:at|as) the (?:very )?(?:end|last)"
)
_NEXT_LINE: Final = regex.compile(
    r"\b(?P<side>start|begin|open|end|finish|conclude|close)(?:s|ing|ning|"
    rf"ting)?(?: {_WHOLE})? (?:with|by saying)(?:{_EXACT})?:?$"
)
_UNQUOTED: Final = regex.compile(
    r"\b(?P<side>start|begin|end|finish|conclude|close)(?:s|ing|ning|"
    rf"ting)?(?: {_WHOLE})? with (?:this|the) exact "
    rf"(?:phrase|words|sentence|line):? (?P<rest>[^\s{QUOTED}].*)$"
)
_EACH: Final = regex.compile(rf"\b(?:each|every|all|any)(?: of the)? {_UNIT}s?\b[^.;]{{0,40}}$")
_EACH_OBJECT: Final = regex.compile(rf"\b(?:each|every)(?: of the)? {_UNIT}\b")
_NTH: Final = (
    r"(?:(?P<ordinal>first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|last|\d+(?:st|"
    r"nd|rd|th)) (?P<nth_unit>paragraph|line|sentence|stanza)|(?P<unit_first>paragraph|line|"
    r"sentence) (?:number )?(?P<nth>\d+|one|two|three|four|five|six))"
)
_NTH_STARTS: Final = regex.compile(
    rf"\b(?:the )?{_NTH}[^.;]{{0,30}}?\b(?P<side>start|begin|open|end|finish)(?:s|ning|ing|"
    rf"ting)? with{_EXACT}(?:{QUOTED}|(?P<bare>[a-z][a-z'-]*))"
    r"|\b(?P<side>start|begin|open|end|finish)(?:s|ning|ing|"
    rf"ting)? (?:the )?{_NTH} with{_EXACT}(?:{QUOTED}|(?P<bare>[a-z][a-z'-]*))"
)
_NTH_WORD: Final = regex.compile(
    rf"\b(?P<side>first|last) word (?:of|in) (?:the )?{_NTH} (?:should|must|has to|needs to|"
    rf"is to) be{_EXACT}(?:{QUOTED}|(?P<bare>[a-z][a-z'-]*))"
)
_ORDINALS: Final = {
    name: number
    for number, name in enumerate(
        ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"], 1
    )
}
_BARE_SIDE: Final = regex.compile(
    r"\b(?P<side>start|begin|end|finish|conclude)(?:s|ing|ning|"
    rf"ting)?(?: {_WHOLE})? with the (?:exact )?(?:words?|phrase) (?P<bare>[a-z][a-z'-]*)(?=$|"
    r"[,;]| (?:and|but)\b)"
)
_QUOTED: Final = regex.compile(
    r"\b(?:wrap|wrapped|enclose|enclosed|surround|surrounded|put|place|placed|encase|encased|"
    r"set|be|is|contained|frame|written|appear|inside|"
    rf"embed)\b(?: (?P<object>{_WHOLE}))?[^.;:]{{0,60}}?\b(?:in|with|within|inside|by|between|of|"
    r"using) (?:a pair of |a set of |two |straight )?(?P<style>double |"
    r"single )?(?:quotation marks?|quotes|quote marks|inverted commas|quotations?)\b"
)
_NOT_WHOLE: Final = regex.compile(
    r"\b(?:title|name|word|words|phrase|term|terms|heading|dialogue|each|every|speech marks|"
    r"quote|sentence|first|last|keyword|keywords|names|line|direct|it)\b"
)
_IS_OUTPUT: Final = regex.compile(
    r"\b(?:response|answer|output|reply|text|everything|whole|entire|all|message|it|letter|essay|"
    r"poem|story|speech|joke|content|result|itinerary|article|post|summary|note)\b"
)
_POSTSCRIPT: Final = regex.compile(
    r"(?<![\w.])(?P<marker>p\.? ?p\.? ?s\b\.?|p\. ?s\b\.?|ps(?= ))|\bpost-?scripts?\b|\bpost scripts?\b"
)
_ADDS: Final = regex.compile(
    r"\b(?:add|include|end|finish|append|with|write|put|have|close|conclude|attach|contain|"
    r"provide|insert|followed by|give|use|needs?|sign off|leave)\b"
)
_REPEAT: Final = regex.compile(
    r"\b(?:repeat|restate|copy|echo|reproduce|quote|write out|say)\b(?: (?:back|me|to me|"
    r"first))*[^.;:]{0,15}?\b(?:the|this|my|all(?: of)?(?: the)?)(?: (?:exact|entire|whole|full|following|original|"
    r"same|above|complete|very))* (?:request|prompt|question|instructions?|sentence|task|query|"
    r"text|message|paragraph|statement)s?\b"
)
_WORD_FOR_WORD: Final = regex.compile(
    r"word[- ](?:for|by)[- ]word|verbatim|without (?:any )?(?:changes?|changing|alter)|exact(?:ly)?|"
    r"unchanged|before (?:you )?(?:answer|respond|giv|reply)|entire request|literally|"
    r"then (?:give |write |provide )?(?:your |the )?(?:answer|respond|reply)|as (?:it )?is"
)
_LONGEST_TEXT: Final = 200
_BELOW: Final = regex.compile(r"\b(?:below|following|after this|that follows)\b")


def find_edges(sentence: Sentence, reading: Reading) -> Iterator[Finding]:
    """Find the words that the output, or each of its parts, starts or ends with."""
    for match in _STARTS.finditer(sentence.text):
        if is_demanded(sentence, match.start(), match.end()):
            yield from _build_edge(sentence, reading, match, match["side"])
    for match in _SIDE_IS.finditer(sentence.text):
        if match["words"] not in {"paragraph", "part"} and _is_free(sentence, match):
            yield from _build_edge(sentence, reading, match, match["side"])
    for match in _END_MUST.finditer(sentence.text):
        if _is_free(sentence, match):
            yield from _build_edge(sentence, reading, match, "end")


def find_next_line(sentence: Sentence, reading: Reading) -> Iterator[Finding]:
    """Find the words to start or end with that stand in the line below, or without quotation marks."""
    yield from _find_unquoted(sentence, reading)
    match = _NEXT_LINE.search(sentence.text)
    if match and is_demanded(sentence, match.start(), match.end()):
        start = sentence.start + match.start()
        place = sentence.start + len(sentence.text)
        skipped = len(reading.text[place:]) - len(reading.text[place:].lstrip(": \n"))
        if "\n" in reading.text[place : place + skipped]:
            end = reading.text.find("\n", place + skipped)
            end = len(reading.text) if end < 0 else end
            text = reading.quote(place + skipped, end).strip("\"'“”")
            if text and len(text) < _LONGEST_TEXT:
                yield Finding(start, end, {"check": _name(match["side"]), "text": text})
    for match in _BARE_SIDE.finditer(sentence.text):
        if (
            is_demanded(sentence, match.start(), match.end())
            and not _EACH.search(sentence.text[: match.start()])
            and not _is_part(sentence.text[: match.start()], match)
        ):
            text = reading.quote(sentence.start + match.start("bare"), sentence.start + match.end("bare"))
            yield Finding(
                sentence.start + match.start(),
                sentence.start + match.end(),
                {"check": _name(match["side"]), "text": text},
            )


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


def find_places(sentence: Sentence, reading: Reading) -> Iterator[Finding]:
    """Find the first or last word of one paragraph, line or sentence."""
    for match in [*_NTH_STARTS.finditer(sentence.text), *_NTH_WORD.finditer(sentence.text)]:
        if not _is_free(sentence, match):
            continue
        word = _read_word(sentence, reading, match)
        unit = match["nth_unit"] or match["unit_first"]
        number = _read_ordinal(match)
        start, end = sentence.start + match.start(), sentence.start + match.end()
        if number is None:
            yield Finding(start, end)
            continue
        position = 1 if match["side"] in {"start", "begin", "open", "first"} else -1
        yield Finding(
            start,
            end,
            {"check": "word_at", "word": word, "position": position, "unit": _UNITS[unit], "number": number},
        )


def find_quotation(sentence: Sentence, _: Reading) -> Iterator[Finding]:
    """Find whether the whole output has to stand in quotation marks."""
    for match in _QUOTED.finditer(sentence.text):
        words = sentence.text[max(0, match.start() - 60) : match.end()]
        head = match.group("object") or sentence.text[max(0, match.start() - 60) : match.start()]
        if not is_demanded(sentence, match.start(), match.end()) or regex.search(
            r"\b(?:not|don't|never|n't|no)\b", words
        ):
            continue
        start, end = sentence.start + match.start(), sentence.start + match.end()
        is_whole = bool(_IS_OUTPUT.search(head)) and not _NOT_WHOLE.search(
            match.group("object") or "x".join(head.split()[-2:])
        )
        if match["style"] == "single " or not is_whole:
            yield Finding(start, end)
            continue
        yield Finding(
            start,
            end,
            {
                "check": "quoted",
                "style": "double" if match["style"] or "inverted" not in match.group() else "any",
            },
        )


def find_postscript(sentence: Sentence, reading: Reading) -> Iterator[Finding]:
    """Find whether the output has to have a postscript."""
    matches = list(_POSTSCRIPT.finditer(sentence.text))
    quoted = [
        mark
        for mark in reading.get_marks(sentence.start, sentence.start + len(sentence.text))
        if regex.fullmatch(r"\s*(?:P\.? ?)+S\b\.?:?\s*", mark.content, regex.I)
    ]
    if not matches and not (quoted and "post" in sentence.text):
        return
    first = matches[0] if matches else None
    place = first.start() if first else 0
    head = sentence.text[:place]
    if (
        first and (not _ADDS.search(head[-60:]) or not is_demanded(sentence, place, first.end()))
    ) or regex.search(r"\b(?:no|not|without|don't|never)\b[^,;]{0,25}$", head):
        return
    marker = quoted[0].content.strip() if quoted else _read_marker(sentence, reading, matches)
    end = matches[-1].end() if matches else len(sentence.text)
    yield Finding(sentence.start + place, sentence.start + end, {"check": "postscript", "marker": marker})


def find_repetition(sentence: Sentence, reading: Reading) -> Iterator[Finding]:
    """Find whether the output has to repeat the request first."""
    match = _REPEAT.search(sentence.text)
    if (
        not match
        or not is_demanded(sentence, match.start() + len(match.group().split()[0]), match.end())
        or not _WORD_FOR_WORD.search(sentence.text)
    ):
        return
    if regex.search(r"\b(?:not|don't|never|without) (?:\w+ ){0,2}$", sentence.text[: match.start()]):
        return
    start = sentence.start + match.start()
    text = _read_request(sentence, reading)
    yield Finding(
        start, sentence.start + match.end(), {"check": "repeats_request", "text": text} if text else None
    )


def _read_request(sentence: Sentence, reading: Reading) -> str:
    """Return the text before the paragraph that asks to repeat it, or after it."""
    end = sentence.start + len(sentence.text)
    before = reading.quote(0, sentence.start)
    before = regex.sub(r"(?:\s*(?:First|Please|Before))$", "", before)
    if not _BELOW.search(sentence.text) and before:
        return before
    colon = sentence.text.find(":")
    if 0 <= colon < len(sentence.text) - 1:
        return reading.quote(sentence.start + colon + 1, end)
    rest = max(reading.text.find("\n", end), end) if _BELOW.search(sentence.text) else end
    return reading.quote(rest, len(reading.text)).lstrip(".:!? \n")


def _read_marker(sentence: Sentence, reading: Reading, matches: list[regex.Match[str]]) -> str:
    for match in matches:
        if match["marker"]:
            text = reading.quote(sentence.start + match.start(), sentence.start + match.end())
            return text if "." in text or text.lower() != "ps" else "P.S."
    return "P.S."


def _build_edge(
    sentence: Sentence, reading: Reading, match: regex.Match[str], side: str
) -> Iterator[Finding]:
    mark = next(
        mark
        for mark in reading.get_marks(sentence.start + match.start(), sentence.start + match.end())
        if mark.character == QUOTED
    )
    start, end = sentence.start + match.start(), sentence.start + match.end()
    before = sentence.text[: match.start()]
    text = mark.content.strip()
    if regex.fullmatch(r"(?:p\.? ?){1,2}s\b\.?:?", text, regex.I):
        yield Finding(start, end, {"check": "postscript", "marker": text})
        return
    if regex.match(r"^(?:section|part|chapter)\b.{0,3}$", text, regex.I) or regex.match(r"[#@*-]$", text):
        return
    if regex.search(r"\b(?:not|n't|never|avoid|no|without)\b(?: \w+){0,4} ?$", before):
        yield Finding(start, end)
        return
    each = _EACH.search(before) or _EACH_OBJECT.search(match.group())
    if not each and _is_part(before, match):
        return
    fields: Fields = {"check": _name(side), "text": text}
    if regex.fullmatch(r"[!?.]", text) and each and side in {"end", "finish"}:
        fields = {"check": "punctuation", "mark": text, "use": "end_of_sentences"}
    elif each:
        fields["each"] = _UNITS[each["unit"]]
    yield Finding(start, end, fields)


def _is_part(before: str, match: regex.Match[str]) -> bool:
    """Check whether a part of the output starts so, and not the output."""
    words = regex.split(r"[,;:.]| and (?=\w+ with)", before)[-1][-50:]
    part = regex.search(
        r"\b(?:first|second|third|fourth|fifth|last|final|paragraph \d+|line \d+|paragraph|"
        r"postscript|section|title|sentence|line|names?|words?|which|who|p\.?s|one|column|"
        r"headings?|keys?|items?|each \w+)\b",
        words,
    )
    return (
        bool(part)
        or "postscript" in words
        or regex.search(
            r"\b(?:section|paragraph|line|sentence|title)\b", match.groupdict().get("object") or ""
        )
        is not None
    )


def _name(side: str) -> str:
    starts = ("start", "begin", "open", "commence", "kick", "first", "very first")
    return "starts_with" if side.startswith(starts) else "ends_with"


def _is_free(sentence: Sentence, match: regex.Match[str]) -> bool:
    """Check a statement of which the part is the subject."""
    if sentence.is_data or (
        sentence.is_question and not regex.match(r"(?:can|could|would|will) you", sentence.text)
    ):
        return False
    before = sentence.text[: match.start()]
    return not regex.search(
        r"\b(?:says|said|claims|told|why|how|whether|asks|asked|because|explain|what)\b", before
    )


def _read_word(sentence: Sentence, reading: Reading, match: regex.Match[str]) -> str:
    if match["bare"]:
        return reading.quote(sentence.start + match.start("bare"), sentence.start + match.end("bare"))
    marks = reading.get_marks(sentence.start + match.start(), sentence.start + match.end())
    return marks[-1].content.strip().rstrip(".,")


def _read_ordinal(match: regex.Match[str]) -> int | None:
    if match["nth"]:
        return read_number(match["nth"])
    digits = regex.match(r"\d+", match["ordinal"])
    return int(digits.group()) if digits else _ORDINALS.get(match["ordinal"])
