"""Machine-readable formats: JSON, CSV, code."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import regex

from evaluation.task_checks.demands.moods import is_demanded
from evaluation.task_checks.language.words import PRODUCING
from evaluation.task_checks.marks import QUOTED
from evaluation.task_checks.quantities import NUMBER, read_number
from evaluation.task_checks.reading import Reading
from evaluation.task_checks.rules.finding import Finding
from evaluation.task_checks.rules.negation import is_negated
from evaluation.task_checks.sentences import Sentence
from evaluation.task_checks.things import Fields

_DATA: Final = r"(?P<format>json(?:l)?|csv|comma-separated values|tsv|tab-separated values)"
_FORMAT: Final = regex.compile(
    r"\b(?:in|as|using|into|to|with|only|be|need|want|return|output|produce|generate|write|create|give me|"
    rf"provide|format:|use|is|valid|emit|print|respond with|answer with|reply with|your|{PRODUCING})(?: (?:a|"
    r"an|the|only|valid|single|just|raw|well-formed|well-formatted|pure|plain|one|following|"
    r"strict|proper|entirely|minified|nested|flat|simple|small|as|in|of|form of|[a-z]+-[a-z]+|"
    rf"nothing but))* {_DATA}(?:[ -](?P<root>object|array|list|format|(?<!in an? json )(?:file|document|"
    rf"string)|table|"
    r"data|output|block|response|code block|notation|rows|lines|dictionary|"
    r"markdown))?\b(?! (?:schema|parser|api|library|files?|documents?|web token|editor|"
    r"or (?:xml|csv|yaml)|and (?:xml|csv|yaml|json)|web|data in|is|works|differs|was|module|"
    r"into|to|vs|format (?:is|was|works|uses|in))\b)"
    rf"|^(?:(?:just|only|please) )?(?:(?:an?|the) )?(?:valid )?{_DATA}(?: "
    rf"(?P<root>object|array|list|table|output|"
    rf"file))?"
    r"(?=,| (?:only|please|format|with|of|containing|for|listing)\b)"
)
_INSIDE: Final = regex.compile(r"\bin an? (?:json|csv)$")
_CONTAINER: Final = regex.compile(r" (?:strings?|files?|documents?|values?|objects?|arrays?)\b")
_ITEM: Final = (
    rf"(?:{QUOTED}|(?!(?:{NUMBER}|otherwise|nothing|no|please|with|without|in|for|then|each)\b)[\p{{Ll}}_]+)"
)
_ROOT_APART: Final = regex.compile(r"(?: please| pls| format)?,? (?:as )?an? (?P<root>object|array|list)\b")
_KEYS: Final = regex.compile(
    r"\b(?:keys?|fields?|properties|attributes)(?: (?:called|named|of|are|should be|"
    rf"being))*:? (?P<list>{_ITEM}(?:(?:, ?(?:and )?| and | & ){_ITEM})*)"
    rf"|\bobject (?:containing|with|that (?:has|contains)|having|of) (?P<list>{QUOTED}(?:(?:, ?(?:and )?|"
    rf" and | & )"
    rf"{QUOTED})*)"
)
_COLUMNS: Final = regex.compile(
    r"\b(?:columns?|headers?|header row|heading)(?: (?:called|named|of|are|should be|being|for|"
    rf"labell?ed))*:? (?P<list>{_ITEM}(?:(?:, ?(?:and )?| and | & ){_ITEM})+|{QUOTED})"
)
_ROWS: Final = regex.compile(
    rf"(?P<number>{NUMBER}) (?:data |more )?(?:rows|records)\b|\bfor (?:(?:the )?(?:top|first|"
    rf"\w+est) )?(?P<number>{NUMBER}) [a-z]+"
)
_PYTHON: Final = regex.compile(
    r"\b(?:write|create|implement|give me|provide|"
    r"generate)\b[^.;?]{0,40}?\bpython\b[^.;?]{0,30}\b(?:function|script|program|class|code|"
    r"snippet|one-liner|method)\b|\b(?:function|script|program|class)\b[^.;]{0,20}\bin python\b"
)
_TITLED: Final = regex.compile(r"\b(?:explain|how|what|why|who|difference|history|describe)\b")


def find_formats(sentence: Sentence, reading: Reading) -> Iterator[Finding]:
    """Find JSON and CSV."""
    for match in _FORMAT.finditer(sentence.text):
        is_place = _INSIDE.search(sentence.text[: match.end()]) and _CONTAINER.match(
            sentence.text, match.end()
        )
        if (
            is_place
            or not is_demanded(sentence, match.start("format"), match.end())
            or is_negated(sentence, match.start())
        ):
            continue
        start, end = sentence.start + match.start(), sentence.start + match.end()
        if match["format"] == "jsonl":
            yield Finding(start, end)
            continue
        read = _read_json if match["format"] == "json" else _read_csv
        keys = _KEYS.search(sentence.text, match.start()) if match["format"] == "json" else None
        end = max(end, sentence.start + keys.end()) if keys else end
        yield Finding(start, end, read(sentence, reading, match))
        return


def find_code(sentence: Sentence, _: Reading) -> Iterator[Finding]:
    """Find code in Python that has to parse."""
    match = _PYTHON.search(sentence.text)
    if match and is_demanded(sentence, match.start(), match.end()) and not _TITLED.search(sentence.text):
        yield Finding(
            sentence.start + match.start(),
            sentence.start + match.end(),
            {"check": "code", "language": "python"},
        )


def _read_json(sentence: Sentence, reading: Reading, match: regex.Match[str]) -> Fields:
    fields: Fields = {"check": "json"}
    apart = _ROOT_APART.match(sentence.text, match.end())
    name = (apart["root"] if apart else match["root"]) or ""
    root = {"object": "object", "dictionary": "object", "array": "array", "list": "array"}.get(name)
    if root:
        fields["root"] = root
    keys = _KEYS.search(sentence.text, match.start())
    if keys and (names := read_names(sentence, reading, keys)):
        fields["keys"] = names
    return fields


def _read_csv(sentence: Sentence, reading: Reading, match: regex.Match[str]) -> Fields:
    fields: Fields = {"check": "csv"}
    if match["format"] in {"tsv", "tab-separated values"}:
        fields["delimiter"] = "\t"
    elif regex.search(r"\bsemicolons?\b", sentence.text):
        fields["delimiter"] = ";"
    columns = _COLUMNS.search(sentence.text)
    if columns and (names := read_names(sentence, reading, columns)):
        fields["columns"] = names
        rows = _ROWS.search(sentence.text)
        number = read_number(rows["number"]) if rows else None
        if number:
            fields["rows"] = number
    return fields


def read_names(sentence: Sentence, reading: Reading, match: regex.Match[str]) -> list[str]:
    """Return the names in the list of a match: keys or columns."""
    start, end = sentence.start + match.start("list"), sentence.start + match.end("list")
    marks = reading.get_marks(start, end)
    if marks:
        names = [mark.content.strip().rstrip(",") for mark in marks if mark.character == QUOTED]
        return [name.strip() for name in regex.split(r"[,;|\t]", names[0])] if len(names) == 1 else names
    return [name for name in regex.split(r",? (?:and|und) |, ?| & ", reading.quote(start, end)) if name]
