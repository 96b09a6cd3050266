"""Measured runs of tasks, and the results of a policy on them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Protocol

from evaluation.evalset.task_case import TaskCase
from evaluation.statistics.intervals import Interval, proportion
from orchestrator.errors import OrchestratorError
from orchestrator.retry.policy import RetryPolicy
from orchestrator.tuning.replay import NamedPolicy, RecordedRun
from orchestrator.tuning.tune_spec import Objective, Resource


class BudgetSpentError(OrchestratorError):
    """The budget of a search is spent; everything that it has found is kept."""


@dataclass(frozen=True, slots=True)
class MeasuredRun:
    """One run of a task under a policy.

    Attributes:
        success: Whether every step was accepted, none as the best of several refused ones.
        attempts: Executions of steps.
        model_calls: Calls of models; also those that recorded replies answered.
        tokens: Tokens of these calls; None if a model did not report them.
        seconds: Time of these calls, recorded ones as they once took.
        run: Its attempts, for replay.
    """

    success: bool
    attempts: int
    model_calls: int
    tokens: int | None
    seconds: float
    run: RecordedRun


class TaskRunner(Protocol):
    """Runs a task for real."""

    def run(self, case: TaskCase, policy: RetryPolicy) -> MeasuredRun:
        """Runs a task once under a policy.

        Raises:
            BudgetSpentError: The budget does not allow another run.
        """
        ...


@dataclass(frozen=True, slots=True)
class Trial:
    """A policy on some tasks.

    Attributes:
        candidate: The policy with its name.
        by_task: The run of each task, in the order in which the tasks were run.
        stopped: Why it was not run on all tasks; None if it was.
    """

    candidate: NamedPolicy
    by_task: Mapping[str, MeasuredRun]
    stopped: str | None = None

    @property
    def successes(self) -> list[float]:
        """1 for each task that succeeded, 0 for each other."""
        return [float(run.success) for run in self.by_task.values()]

    @property
    def success(self) -> float:
        """The share of tasks that succeeded."""
        return fmean(self.successes)

    @property
    def interval(self) -> Interval | None:
        """The exact 95 % interval of this share."""
        return proportion(round(sum(self.successes)), len(self.by_task)).interval

    def mean(self, resource: Resource) -> float | None:
        """Returns the mean cost of a run; None if a run does not report it."""
        values = [getattr(run, resource) for run in self.by_task.values()]
        return None if None in values else fmean(values)

    def cost(self, objective: Objective) -> float:
        """Mean of the cost that success is weighed against; 0 if a run does not report it."""
        return self.mean(objective.against) or 0.0

    def broken_limit(self, objective: Objective) -> str | None:
        """Returns which limit of the objective its mean exceeds; None if none."""
        for resource, limit in objective.limits.items():
            mean = self.mean(resource)
            if mean is None or mean > limit:
                shown = "unknown" if mean is None else f"{mean:.4g}"
                return f"{resource} per run is {shown}, the limit is {limit:g}"
        return None


def choose_best(trials: Sequence[Trial], objective: Objective) -> Trial | None:
    """Returns the trial on all tasks with the most success; of equal ones, the cheapest.

    Returns None if every one breaks a limit.
    """
    allowed = [trial for trial in trials if not trial.stopped and not trial.broken_limit(objective)]
    return max(allowed, key=lambda trial: (trial.success, -trial.cost(objective)), default=None)
