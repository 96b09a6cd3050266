"""Makes one set of the requirements of all sentences: without repetitions, and without broken forms."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Final

import regex

from evaluation.task_checks.reading import Reading
from evaluation.task_checks.rules.finding import Finding, overlap
from evaluation.task_checks.things import Fields

_PARTS: Final = frozenset(
    {
        "title",
        "postscript",
        "repeats_request",
        "part_count",
        "section_count",
        "json",
        "csv",
        "table",
        "quoted",
    }
    | {"list_item_count", "placeholder_count", "heading_count", "code_block_count"}
)
"""Checks of parts that a poem of a known form does not have."""
_TOPICS: Final = {
    "repeats_request": regex.compile(r"\b(?:repeat|change|before)"),
    "section_count": regex.compile(r"\b(?:section|part|chapter)"),
    "part_count": regex.compile(r"\b(?:separat|divid|asterisk|different|versions?|responses?)"),
    "postscript": regex.compile(r"\b(?:post-?script|p\.? ?s\b)"),
    "title": regex.compile(r"\btitle"),
    "ends_with": regex.compile(r"\b(?:follow|after)"),
    "json": regex.compile(r"\bjson\b"),
    "one_of": regex.compile(r"\b(?:options?|phrases?|choose)"),
}
"""Words of sentences that explain a check of this kind."""
_PROSE: Final = frozenset({"sentence_count", "paragraph_count", "line_count"})
_SIZES: Final = _PROSE | {"word_count", "character_count"}
_SENTENCE_END: Final = regex.compile(r"[.!?\n]")
_NO_PROSE: Final = frozenset({"code", "code_block_count", "table", "csv", "json"})
"""Parts in which sentences, paragraphs and lines are not those of the text."""
_DATA: Final = frozenset({"json", "csv"})
"""Data that need marks of their own."""
_CODE: Final = regex.compile(
    r"\b(?:write|fix|refactor|implement|create|generate)\b[^.;]{0,30}\b(?:code|script|function|program|"
    r"query)\b"
)
_TITLED: Final = regex.compile(r"\b(?:title|heading|headline)\b")
_SOURCE: Final = regex.compile(
    r"(?<!\b(?:no|nor|or|without|any) )\b(?:code(?! ?-?(?:blocks?|fences?))|scripts?|functions?|programs?|"
    r"sql|bash|shell|one-liner|commands?|regex|html|css|ya?ml|toml|xml|latex|python|javascript|typescript|java|"
    r"dockerfile|makefile|config)\b"
)
"""Outputs whose own signs look like those of Markdown: a comment of a script starts like a heading."""
_SHOWN: Final = regex.compile(r"\b(?:structure|layout)\b[^.;]{0,40}\b(?:as follows|like this)\b")
_MOST: Final = 300
"""Requirements that are read; a task that states more is no task."""
_GOES_ON: Final = regex.compile(
    r"\b(?:explain|then|afterwards?|followed by|below it|describe|also (?:write|give|list|add|"
    r"explain)|add a|add an|list|translate)\b"
)


def assemble(findings: Iterable[Finding], reading: Reading) -> list[Finding]:
    """Return the requirements in the order of the task, each once."""
    placed = sorted(islice(findings, _MOST), key=lambda finding: finding.start)
    settled = [
        _settle_scope(_settle_form(finding, placed, reading), placed, reading.text) for finding in placed
    ]
    settled = [_settle_answer(finding, placed, reading.text) for finding in settled]
    checked = [finding for finding in settled if finding.check]
    return [finding for finding in _drop_repeated(settled) if not _is_covered(finding, checked, reading)]


def _settle_form(finding: Finding, findings: Sequence[Finding], reading: Reading) -> Finding:
    """Keep the check of a form only if the output is this form and nothing else."""
    if not finding.is_form or finding.check is None:
        return finding
    others = [other.check for other in findings if other.check]
    has_part = any(check["check"] in _PARTS and not _forbids(check) for check in others)
    has_parts = has_part or _has_title(findings, reading.text)
    if has_parts or _GOES_ON.search(reading.text, finding.end):
        return replace(finding, check=None)
    codes = {check["code"] for check in others if check["check"] == "language"}
    syllables = finding.check.get("syllables")
    # Syllables are counted in English only.
    if isinstance(syllables, list) and codes - {"en"}:
        return replace(finding, check={"check": "line_count", "exactly": len(syllables)})
    return finding


def _has_title(findings: Sequence[Finding], text: str) -> bool:
    """Check whether a title is demanded, for which there is no check."""
    return any(not other.check and _TITLED.search(text, other.start, other.end) for other in findings)


def _settle_scope(finding: Finding, findings: Sequence[Finding], text: str) -> Finding:
    """Drop the check of sentences, lines or marks if code or data are a part of the same output."""
    check = finding.check
    if check == {"check": "markdown", "use": "absent"} and _SOURCE.search(text):
        return replace(finding, check=None)
    if check is None or check["check"] not in {*_PROSE, "punctuation"} or "each" in check:
        return finding
    kinds = {str(other.check["check"]) for other in findings if other.check and not _forbids(other.check)}
    if "repeats_request" in kinds and 1 in {check.get("exactly"), check.get("max")}:
        return replace(finding, check=None)
    if check["check"] == "punctuation":
        return replace(finding, check=None) if kinds & _DATA else finding
    is_code = check["check"] == "line_count" and _CODE.search(text)
    return replace(finding, check=None) if kinds & _NO_PROSE or is_code or _SHOWN.search(text) else finding


def _settle_answer(finding: Finding, findings: Sequence[Finding], text: str) -> Finding:
    """Drop the largest size of an answer before which the request has to be repeated."""
    if finding.check is None or finding.check["check"] not in _SIZES or "each" in finding.check:
        return finding
    is_after = any(
        other.check
        and other.check["check"] == "repeats_request"
        and other.end <= finding.start
        and not _SENTENCE_END.search(text, other.end, finding.start)
        for other in findings
    )
    return replace(finding, check=None) if is_after and set(finding.check) & {"max", "exactly"} else finding


def _forbids(check: Fields) -> bool:
    return check.get("max") == 0 or check.get("use") == "absent"


def _is_covered(finding: Finding, findings: Sequence[Finding], reading: Reading) -> bool:
    """Check whether another requirement says the same, and more."""
    check, others = finding.check, findings
    if check is None:
        words = reading.text[finding.start : finding.end]
        kinds = {str((other.check or {}).get("check")) for other in others}
        return any(overlap(other, finding) for other in others) or any(
            _is_about(kind, words) for kind in kinds
        )
    name = check["check"]
    if name == "contains" and _is_part_of_other(finding, others):
        return True
    if finding.is_default:
        return any((other.check or {}).get("check") == name and not other.is_default for other in others)
    if name == "paragraph_count" and "each" not in check:
        return any(_separates(other.check, check) for other in others)
    return False


def _is_part_of_other(finding: Finding, others: Sequence[Finding]) -> bool:
    """Check whether words to contain are keys of JSON, an option, or the start of another literal."""
    is_enough = (finding.check or {}).get("at_least") == 1
    return any(
        _has_longer_literal(other, finding)
        or (
            overlap(other, finding)
            and (
                "keys" in (other.check or {}) or (is_enough and (other.check or {}).get("check") == "one_of")
            )
        )
        for other in others
    )


def _has_longer_literal(other: Finding, finding: Finding) -> bool:
    """Check whether the text to contain is the start of the literal of another check of the same words."""
    texts, check = (finding.check or {}).get("texts"), other.check or {}
    literals = [check.get("text"), check.get("phrase"), *_read_list(check.get("texts"))]
    return overlap(other, finding) and any(
        isinstance(literal, str) and [literal] != texts and literal.startswith(f"{text} ")
        for literal in literals
        for text in _read_list(texts)[:1]
    )


def _read_list(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _is_about(kind: str, words: str) -> bool:
    """Check whether words only explain another requirement: "say nothing before repeating it"."""
    topic = _TOPICS.get(kind)
    return topic is not None and topic.search(words) is not None


def _separates(other: Fields | None, check: Fields) -> bool:
    """Check whether the paragraphs are the parts between separators."""
    return (
        other is not None and other["check"] == "part_count" and other.get("exactly") == check.get("exactly")
    )


def _drop_repeated(findings: Iterable[Finding]) -> Iterator[Finding]:
    seen: list[Fields] = []
    for finding in findings:
        if finding.check is not None:
            if finding.check in seen:
                continue
            seen.append(finding.check)
        yield finding
