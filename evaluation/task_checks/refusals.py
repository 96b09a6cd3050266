"""Drops the checks of refused things: "don't end with a joke", "use it never".

Rules read demands by the words that state them. If a negation stands before or behind these words, the check
would say the opposite; the refusal stays as a requirement that nothing checks.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

import regex

from evaluation.task_checks.rules.finding import Finding
from evaluation.task_checks.sentences import Sentence

_POSITIVE: Final = frozenset(
    {
        "starts_with",
        "ends_with",
        "contains",
        "part_count",
        "json",
        "csv",
        "title",
        "postscript",
        "quoted",
        "one_of",
    }
)
"""Checks that say what the output has."""
_BEFORE: Final = regex.compile(
    r"(?:\b(?:do not|never|not|avoid|nothing|nobody|refrain from)|\b\w+n't)"
    r"(?: (?!but\b|and\b|only\b|to forget\b)[a-z]+){0,3} ?$"
)
_LONGEST_BEFORE: Final = 40
_BEHIND: Final = regex.compile(r"(?: [a-z]+){0,2}? (?:not|never|nowhere)(?= ?(?:$|[.,;:!?)]))")


def drop_refused(findings: Iterable[Finding], sentences: Sequence[Sentence]) -> Iterator[Finding]:
    """Drop the checks of refused things."""
    starts = [sentence.start for sentence in sentences]
    for finding in findings:
        sentence = sentences[max(0, bisect_right(starts, finding.start) - 1)]
        yield _refuse(finding, sentence) if _says_what_is_there(finding) else finding


def _says_what_is_there(finding: Finding) -> bool:
    check = finding.check or {}
    is_end = check.get("check") == "punctuation" and check.get("use", "absent") != "absent"
    return is_end or "exactly" in check or check.get("check") in _POSITIVE


def _refuse(finding: Finding, sentence: Sentence) -> Finding:
    """Drop the check if a negation stands beside its words; the words then include the negation."""
    start, end = finding.start - sentence.start, finding.end - sentence.start
    before = _BEFORE.search(sentence.text, max(0, start - _LONGEST_BEFORE), start)
    behind = _BEHIND.match(sentence.text, end)
    if before is None and behind is None:
        return finding
    first = finding.start if before is None else sentence.start + before.start()
    last = finding.end if behind is None else sentence.start + behind.end()
    return replace(finding, check=None, start=first, end=last)
