"""Runs of tasks under candidates: what is measured of each, and the checks of the tasks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Protocol

from evaluation.evalset.task_case import TaskCase
from evaluation.task_checks import derive_checks
from orchestrator.errors import ConfigurationError
from orchestrator.state.plain_values import format_repr
from orchestrator.tuning.candidates import Candidate
from orchestrator.tuning.replay import RecordedRun
from orchestrator.tuning.trials import Values
from orchestrator.tuning.tune_spec import Quantity


@dataclass(frozen=True, slots=True)
class MeasuredRun:
    """One run of a task under a candidate.

    Attributes:
        success: Whether every step was accepted, none as the best of several refused ones.
        model_calls: Calls of models; also those that recorded replies answered.
        tokens: Tokens of these calls; None if a model did not report them.
        cost_usd: Their cost; None without prices.
        seconds: Time of these calls, recorded ones as they once took.
        attempts: Executions of steps.
        spent_calls: Calls that a model answered now.
        spent_seconds: Time that the run took now.
        spent_usd: Cost of the run if a model answered any of its calls, an upper bound; else 0.
        run: Its attempts, for replay.
    """

    success: bool
    model_calls: int
    tokens: int | None
    cost_usd: float | None
    seconds: float
    attempts: int
    spent_calls: int
    spent_seconds: float
    spent_usd: float
    run: RecordedRun

    @property
    def values(self) -> Values:
        """The known quantities of the run."""
        known: dict[Quantity, float | None] = {
            "success": float(self.success),
            "attempts": self.attempts,
            "model_calls": self.model_calls,
            "tokens": self.tokens,
            "cost_usd": self.cost_usd,
            "seconds": self.seconds,
        }
        return {name: float(value) for name, value in known.items() if value is not None}


class TaskRunner(Protocol):
    """Runs a task for real.

    If it has an ``identity``, a text of what decides its runs, such as its tools, a study that was measured
    with another identity is refused.
    """

    def run(self, case: TaskCase, candidate: Candidate, repeat: int) -> MeasuredRun:
        """Runs a task once under a candidate.

        Args:
            case: The task.
            candidate: The policy and its model.
            repeat: Number of the run, from 0; each has seeds of its own, which all candidates share.
        """
        ...


def join_values(runs: Sequence[MeasuredRun]) -> Values:
    """Returns the mean of each quantity over the runs of a task that all report it."""
    every = [run.values for run in runs]
    names = set.intersection(*(set(values) for values in every))
    return {name: fmean(values[name] for values in every) for name in sorted(names)}


def name_task(case: TaskCase) -> str:
    """Returns the name of a case in results."""
    return case.name or case.task


def check_cases(cases: Sequence[TaskCase], check: Callable[[TaskCase], bool] | None = None) -> None:
    """Checks that every task has a check and a name of its own.

    Raises:
        ConfigurationError: A task has no check, or two have the same name.
    """
    unchecked = [name_task(case) for case in cases if not (check or has_checks)(case)]
    if unchecked:
        raise ConfigurationError(
            f"{len(unchecked)} of {len(cases)} tasks have nothing to check, and so nothing to tune by, "
            f"such as {format_repr(unchecked[0], 80)}; give them a contract, or leave them out"
        )
    names = Counter(name_task(case) for case in cases)
    if repeated := [name for name, count in names.items() if count > 1]:
        raise ConfigurationError(f"two tasks have the name {format_repr(repeated[0], 80)}; give each its own")


def has_checks(case: TaskCase) -> bool:
    """Returns whether the contract of a case, or its text, states a check."""
    if case.contract == "from_task":
        return bool(derive_checks(case.task).checks)
    return bool(case.contract.model_dump(exclude_defaults=True))
