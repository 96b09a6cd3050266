"""The form of the whole output: JSON, a table, a language, a letter case, a frame, one number alone."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final, TypeAlias

from evaluation.checks.segmentation import LANGUAGES
from evaluation.task_checks.amounts import NUMBER, read_number
from evaluation.task_checks.demands import REPEATED, Fields, Finding
from evaluation.task_checks.reading import BRACKETED, QUOTED, SEPARATOR, Reading

Rule: TypeAlias = Callable[[re.Match[str], int, Reading], Fields | None]
_KEY: Final = rf"(?:{QUOTED}|[a-z][\w-]*)"
_KEYS: Final = re.compile(
    rf"(?P<only>\b(?:exactly|only|just) )?(?:(?:the|these|two|three|four|following|exactly) )*(?:keys?"
    rf"|fields?)"
    rf"(?: named| called| are)?:? (?P<keys>{_KEY}(?:(?:, (?:and )?| and ){_KEY})*)(?=\s*(?:[.!?;:)\n]|$)|,? "
    r"(?:for|in|of|only|and nothing)\b|, (?:nothing|no|in|for)\b)(?P<alone> (?:only|and nothing else"
    r"|and no others?)\b)?"
)
_VALUE: Final = re.compile(
    rf"{_KEY} (?:set to|equal to|with (?:the )?value|must be|should be) (?:{QUOTED}|[\w.-]+)"
    rf"|{QUOTED} (?:is|as|=) (?:\d+|true|false|null)\b"
)
_CODES: Final = {name.lower(): code for code, name in LANGUAGES.items()}
_LANGUAGE: Final = "|".join(_CODES)
_DEEP: Final = re.compile(r"\b(?:each|every|objects|array|list)\b")


def _read_json(match: re.Match[str], _: int, reading: Reading) -> Fields:
    """Returns the check of JSON, with the keys that stand anywhere in the task."""
    words, named = match.group(), _KEYS.search(reading.text)
    root = "array" if re.search(r"array|list", words) else "object" if words.endswith("object") else "any"
    if named is None or _DEEP.search(reading.text):
        return {"check": "json", "root": root}
    first = named.start("keys")
    found = [key for key in re.finditer(_KEY, named["keys"]) if key.group() != "and"]
    spans = [(key.start(), key.end(), key.group()) for key in found]
    keys = [
        reading.literal(first + start) if mark == QUOTED else reading.quote(first + start, first + end)
        for start, end, mark in spans
    ]
    if not (named["only"] or named["alone"]):
        return {"check": "json", "root": root, "keys": keys}
    fields = {"required": keys, "properties": {key: {} for key in keys}, "additionalProperties": False}
    return {"check": "schema", "json_schema": {"type": "object", **fields}}


def _read_language(match: re.Match[str], _: int, __: Reading) -> Fields:
    return {"check": "language", "code": _CODES[match["language"]]}


def _read_table(match: re.Match[str], _: int, __: Reading) -> Fields:
    columns = re.search(rf"\b({NUMBER})[ -]columns?\b", match.string)
    return {"check": "table", **({"columns": read_number(columns[1])} if columns else {})}


def _fix(**fields: object) -> Rule:
    return lambda _match, _start, _reading: fields


_ONLY: Final = r"(?:(?:only|all|just|entirely|fully|the|completely|plain|written|in|using|simple) )*"
_BY: Final = r"\b(?:in|using|use|with|be|only|are|is|everything|all|contain) "
_JSON: Final = (
    r"\b(?:(?:in|as|into|return|output|using|with|only|valid|respond with|give me|produce|an?|just|the) )+"
    r"(?:valid |single )?json(?: (?:format|object|array|list|document))?\b(?! (?:file|schema|parser|api"
    r"|strings?))"
)
_SPOKEN: Final = (
    rf"\b(?:in|into|language:|only|entirely|answer|speak"
    rf"|use) {_ONLY}(?P<language>{_LANGUAGE})\b(?: language)?"
)
_UPPER: Final = (
    r"(?:(?:all[- ])?(?:capital letters|upper-? ?case(?: letters)?|capitals|caps)|capitali[sz]ed)\b"
)
_LOWER: Final = r"(?:(?:all[- ])?lower-? ?case(?:d|(?: letters)?)|small letters)\b"
_TABLE: Final = (
    r"\b(?:in|as|into|with|include|add|make|using|use|create|give me|return|draw) (?:an? |one )?"
    rf"(?:markdown |simple |{NUMBER}[- ]columns? )*table\b(?! (?:of contents|for"
    rf"|tennis))(?: with {NUMBER} columns)?"
)
_UNCHECKED: Final = re.compile(
    rf"\bpost-?script\b|\bplace-?holders?\b|\btitles?\b[^.;\n]{{0,60}}?(?:ang\w+ brackets|{BRACKETED})"
    rf"|\b(?:highlight|italici[sz]e|bold)\b[^.;\n]{{0,30}}?\b(?:sections?|parts?|words?|phrases?)\b"
    rf"|\b(?:separat\w*|divid\w*|split)\b[^.;\n]{{0,50}}?(?:{SEPARATOR}|\w+ asterisks?\b)"
    rf"|\b(?:quotation marks|quotes)\b|{REPEATED}"
)
"""Forms that no check covers."""
_NUMBER_ALONE: Final = r"\b(?:only|just) (?:with )?(?:a |the )?number\b|\bnumber (?:only|alone)\b"
_FORMS: Final[tuple[tuple[re.Pattern[str], Rule], ...]] = tuple(
    (re.compile(pattern), rule)
    for pattern, rule in (
        (_JSON, _read_json),
        (_SPOKEN, _read_language),
        (_BY + _ONLY + _UPPER, _fix(check="letter_case", style="upper")),
        (_BY + _ONLY + _LOWER, _fix(check="letter_case", style="lower")),
        (_TABLE, _read_table),
        (_NUMBER_ALONE, _fix(check="word_count", min=1, max=1)),
    )
)


def find_forms(text: str, start: int, reading: Reading) -> Iterator[Finding]:
    """Finds the demands of a sentence on the form; ``start`` is its place in the folded text."""
    for pattern, build in _FORMS:
        for match in pattern.finditer(text):
            yield Finding(start + match.start(), start + match.end(), build(match, start, reading))
    yield from (Finding(start + match.start(), start + match.end()) for match in _UNCHECKED.finditer(text))
    if "json" in reading.text:
        stated = [*_VALUE.finditer(text), *(_KEYS.finditer(text) if _DEEP.search(reading.text) else ())]
        yield from (Finding(start + match.start(), start + match.end()) for match in stated)
