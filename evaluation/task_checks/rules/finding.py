"""Finding: a requirement that a rule recognises in a sentence."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from evaluation.task_checks.things import Fields

_NEAREST: Final = 20
"""Findings that are compared; it bounds the time of long tasks."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A requirement with its place in the folded text."""

    start: int
    end: int
    check: Fields | None = None
    """The check as plain data; None if there is no check for the requirement."""
    is_form: bool = False
    """Whether other parts of the output break the form: a haiku with a title has no three lines."""
    is_default: bool = False
    """Whether the check has a number that the task does not say: a list of at least two items."""


def drop_doubles(findings: Iterable[Finding]) -> list[Finding]:
    """Drop each requirement that another rule read, too, from words that contain its own."""
    result: list[Finding] = []
    for finding in sorted(findings, key=lambda finding: (finding.start, -finding.end)):
        if not any(finding.check and _contains(other, finding) for other in result[-_NEAREST:]):
            result.append(finding)
    return result


def overlap(first: Finding, second: Finding) -> bool:
    """Return whether two findings share words of the task."""
    return first.start < second.end and second.start < first.end


def _contains(other: Finding, finding: Finding) -> bool:
    return other.check == finding.check and other.start <= finding.start and finding.end <= other.end
