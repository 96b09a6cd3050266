"""The attempts of recorded runs, as far as replay needs them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol

FIRST: Final = "first"
"""The strategy of the first execution of a step."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One execution of a step.

    Attributes:
        strategy: How it was made: "first", "feedback", "resample", "escalate:MODEL", ...
        passed: Whether it was accepted.
        kind: The kind of its failure; empty if it passed.
        score: The score of its report, from 0 to 1.
        output: A digest of its output. Equal outputs have equal digests.
        tokens: Input and output tokens, those of its judging included; None if they are unknown.
        cost_usd: As for ``tokens``.
        seconds: Time of its model calls.
    """

    strategy: str
    passed: bool
    kind: str = ""
    score: float | None = None
    output: str = ""
    tokens: float | None = None
    cost_usd: float | None = None
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class RecordedStep:
    """The attempts of one step in their order."""

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
