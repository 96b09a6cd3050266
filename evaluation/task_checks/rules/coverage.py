"""Tells whether words say again what a check holds: "without change" beside a repeated request."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import regex

from evaluation.task_checks.marks import QUOTED
from evaluation.task_checks.reading import Reading
from evaluation.task_checks.rules.finding import Finding, overlap
from evaluation.task_checks.things import Fields

_KINDS: Final = tuple(
    (regex.compile(rf"\b(?:{words})"), frozenset(kinds.split()))
    for words, kinds in (
        (r"highlight|bold|italic|markdown|emphasi|asterisk", "highlight_count part_count"),
        (r"plain[- ]text|formatting", "markdown"),
        (r"markdown", "list_item_count heading_count table code_block_count json markdown"),
        (r"letters?\b|capital|upper|lower|caps\b", "letter_case letter_count capital_word_count"),
        (r"language", "language"),
        (r"bullets?|lists?\b|listed|numbered|points?\b", "list_item_count"),
        (r"word for word|verbatim|sentence|change|repeat|before", "repeats_request"),
        (r"titles?\b|brackets|angular", "title placeholder_count"),
        (r"placeholders?", "placeholder_count"),
        (r"sections?|each|parts?\b|mark", "section_count"),
        (r"separat|divid|asterisk|versions?|responses?|answers?|different|two\b|parts?\b", "part_count"),
        (r"(?:separated|divided) by (?:two|2|double|blank|an empty|a blank) \w+", "paragraph_count"),
        (r"json|format|brackets|only", "json"),
        (r"keys?\b|fields?\b", "keys"),
        (r"columns?\b|header", "columns header"),
        (r"rows?\b", "rows"),
        (r"commas?\b.* (?:delimiter|separator)", "csv"),
        (r"(?:semicolons?|tabs?)\b", "delimiter"),
        (r"quot|wrap", "quoted"),
        (r"p\.? ?s\.|post ?-?script|at the end|end", "postscript"),
        (r"haikus?|limericks?|lines?\b", "line_syllables line_count"),
        (r"tweets?|characters?|chars", "character_count"),
        (r"words?\b", "word_count unique_word_count contains excludes occurrences"),
        (r"sentences?", "sentence_count"),
        (r"paragraphs?", "paragraph_count part_count word_at"),
        (r"follow|last|at the end|phrase", "ends_with"),
        (r"first|at the (?:start|beginning)", "starts_with word_at"),
        (r"exact (?:phrase|words?|option|answer)", "one_of"),
        (
            r"add(?:itional)? words|just|only|nothing|no other",
            "one_of repeats_request json ends_with part_count",
        ),
        (r"punctuation|marks?\b", "punctuation"),
    )
)
"""Words that say again what a check of one of these kinds holds."""
AND: Final = regex.compile(r",? and (?=(?:the|an?|my|our|some|two|three) )")
"""Between two objects of an order."""
_EACH_WITH: Final = regex.compile(r"(?:each|every) (?:with|having)")
_NEXT: Final = 12
_SEPARATOR: Final = regex.compile(r" ?[,;|\t] ?")
_SIGNED: Final = frozenset({"list_item_count", "highlight_count"})
_BULLETS: Final = frozenset("*-•")


@dataclass(frozen=True, slots=True)
class Known:
    """What the rules have read: the findings near a sentence, and the checks of the whole task."""

    reading: Reading
    findings: Sequence[Finding]
    checks: Sequence[Fields]
    kinds: frozenset[str]
    numbers: frozenset[int]
    texts: frozenset[object]
    """The literals of the checks."""
    signs: frozenset[object]
    """The letters that checks count, and the signs that mark their items or highlights."""

    def touches(self, place: Finding) -> bool:
        """Check whether a rule has read some of the words of a place."""
        return any(overlap(place, finding) for finding in self.findings)

    def covers(self, place: Finding) -> bool:
        """Check whether a check holds what the words of a place say."""
        words = self.reading.text[place.start : place.end]
        if _EACH_WITH.fullmatch(words) and "each" in self.kinds:
            return any(self._starts_after(finding, place) for finding in self.findings)
        return self._says_again(words, self._list_literals(place))

    def _starts_after(self, finding: Finding, place: Finding) -> bool:
        """Check for a check of each part directly after "each with"."""
        return "each" in (finding.check or {}) and place.end <= finding.start <= place.end + _NEXT

    def covers_signs(self, place: Finding) -> bool:
        """Check for words about a sign that a check counts: 'use "*" before each bullet'."""
        return self._are_signs(self._list_literals(place))

    def names(self, place: Finding) -> bool:
        """Check whether a check holds all quoted words of a place, as words or names of columns."""
        parts = {part for text in self._list_literals(place) for part in _SEPARATOR.split(text)}
        return bool(parts) and any(parts <= _list_names(check) for check in self.checks)

    def _says_again(self, words: str, literals: Sequence[str]) -> bool:
        if words == "each of them" and "highlight_count" in self.kinds:
            return True
        if words.startswith(("each", "every")) and "separated by" not in words:
            return bool(self.kinds & {"each", "section_count", "part_count"})
        if literals and not all(text.strip() in self.texts for text in literals):
            return self._are_signs(literals)
        return any(self.kinds & of and pattern.search(words) for pattern, of in _KINDS)

    def _are_signs(self, literals: Sequence[str]) -> bool:
        return bool(literals) and all(text.strip() in self.signs for text in literals)

    def _list_literals(self, place: Finding) -> list[str]:
        marks = self.reading.get_marks(place.start, place.end)
        return [mark.content for mark in marks if mark.character == QUOTED]


def drop_masked(findings: Sequence[Finding], text: str) -> Iterator[Finding]:
    """Drop unchecked coordinations of which a check holds a part: the other part is a requirement, too."""
    for finding in findings:
        is_joined = finding.check is None and AND.search(text, finding.start, finding.end)
        if not (is_joined and any(other.check and overlap(other, finding) for other in findings)):
            yield finding


def list_kinds(checks: Iterable[Fields]) -> frozenset[str]:
    """List the kinds of checks and the names of their fields."""
    return frozenset(name for check in checks for name in (str(check["check"]), *check))


def list_texts(checks: Iterable[Fields]) -> frozenset[object]:
    """List the literals of checks."""
    values = (check.get(name) for check in checks for name in ("text", "phrase"))
    return frozenset(value for value in values if isinstance(value, str))


def list_signs(checks: Sequence[Fields]) -> frozenset[object]:
    """List the letters that checks count, and the signs that mark their items or highlights."""
    letters = (check.get("letter") for check in checks)
    marks = _BULLETS if any(check["check"] in _SIGNED for check in checks) else frozenset()
    return frozenset(letter for letter in letters if isinstance(letter, str)) | marks


def _list_names(check: Fields) -> set[object]:
    lists = [check.get(name) for name in ("columns", "texts", "keys")]
    return {text for names in lists if isinstance(names, list) for text in names}
