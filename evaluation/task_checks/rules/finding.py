"""Finding: a requirement that a rule recognises in a sentence."""

from __future__ import annotations

from dataclasses import dataclass

from evaluation.task_checks.things import Fields


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
