"""The attempts of recorded runs, as far as replay needs them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from orchestrator.retry.attempts import Attempt


def has_passed(attempt: Attempt) -> bool:
    """Returns whether an attempt was accepted."""
    return attempt.outcome == "validated"


def failure_kind(attempt: Attempt) -> str:
    """Returns the first kind of an attempt's failure; empty if it was accepted."""
    return "" if has_passed(attempt) else (*attempt.kinds, "other")[0]


@dataclass(frozen=True, slots=True)
class RecordedStep:
    """The attempts of one step in their order. The strategy of each contains its options."""

    attempts: tuple[Attempt, ...]


@dataclass(frozen=True, slots=True)
class RecordedRun:
    """One run of a task.

    Attributes:
        task: Names the task. Runs of the same task are not independent.
        steps: The executed steps in their order; each has an attempt.
        planned_steps: Number of steps of the plan; 0 if it is the number of executed steps.
    """

    task: str
    steps: tuple[RecordedStep, ...]
    planned_steps: int = 0

    @property
    def missing_steps(self) -> int:
        """Number of planned steps that the run did not reach."""
        return max(0, self.planned_steps - len(self.steps))


class ReplayPolicy(Protocol):
    """A policy, as replay asks it."""

    @property
    def name(self) -> str:
        """Names the policy in results; unique among those compared."""
        ...

    def next_strategy(self, attempts: Sequence[Attempt]) -> str | None:
        """Returns how the step is executed again after these failures; None if it is given up."""
        ...
