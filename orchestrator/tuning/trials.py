"""Measured runs of tasks, and the results of a policy: one value of each quantity for each task."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Final, Protocol, get_args

from evaluation.evalset.task_case import TaskCase
from evaluation.statistics.intervals import Interval, proportion
from evaluation.statistics.means import FEWEST, mean_variance
from evaluation.statistics.quantiles import t_quantile
from orchestrator.tuning.candidates import Candidate
from orchestrator.tuning.replay import RecordedRun
from orchestrator.tuning.tune_spec import Objective, Quantity

Values = Mapping[str, float]
"""Quantities of a task by name, as means over its runs; a quantity that is unknown is left out."""
_UPPER: Final = 0.975


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
    """Returns the mean of each quantity over the runs of a task, if all of them report it."""
    every = {name: [getattr(run, name) for run in runs] for name in get_args(Quantity)}
    return {name: fmean(values) for name, values in every.items() if None not in values}


@dataclass(frozen=True, slots=True)
class Trial:
    """A candidate on some tasks.

    Attributes:
        candidate: The policy and its model.
        by_task: The quantities of each task, in the order in which the tasks were run.
        stopped: Why it was not run on all tasks; None if it was.
    """

    candidate: Candidate
    by_task: Mapping[str, Values] = field(default_factory=dict)
    stopped: str | None = None

    def values(self, quantity: Quantity) -> list[float]:
        """Returns a quantity of each task that has it."""
        return [values[quantity] for values in self.by_task.values() if quantity in values]

    def mean(self, quantity: Quantity) -> float | None:
        """Returns the mean of a quantity; None if a task lacks it."""
        values = self.values(quantity)
        return fmean(values) if values and len(values) == len(self.by_task) else None

    def interval(self, quantity: Quantity) -> Interval | None:
        """Returns the 95 % interval of the mean: Clopper and Pearson's for 0 and 1, else Student's."""
        values = self.values(quantity)
        if set(values) <= {0.0, 1.0}:
            return proportion(round(sum(values)), len(values)).interval
        if len(values) < FEWEST:
            return None
        half = t_quantile(_UPPER, len(values) - 1) * mean_variance(values) ** 0.5
        return Interval(fmean(values) - half, fmean(values) + half)

    @property
    def success(self) -> float:
        """Mean success of its tasks."""
        return fmean(self.values("success"))

    def cost(self, objective: Objective) -> float:
        """Mean of the quantity that success is weighed against; 0 if a task lacks it."""
        return self.mean(objective.against) or 0.0

    def broken_limit(self, objective: Objective) -> str | None:
        """Returns which limit of the objective its mean exceeds; None if none."""
        for quantity, limit in objective.limits.items():
            mean = self.mean(quantity)
            if mean is None or mean > limit:
                shown = "unknown" if mean is None else f"{mean:.4g}"
                return f"{quantity} per run is {shown}, the limit is {limit:g}"
        return None


def choose_best(trials: Sequence[Trial], objective: Objective) -> Trial | None:
    """Returns the trial on all tasks with the most success; of equal ones, the cheapest.

    Returns None if every one breaks a limit.
    """
    allowed = [trial for trial in trials if not trial.stopped and not trial.broken_limit(objective)]
    return max(allowed, key=lambda trial: (trial.success, -trial.cost(objective)), default=None)


def find_front(trials: Sequence[Trial], objective: Objective) -> list[Trial]:
    """Returns the trials that no other beats in success and cost at once, the cheapest first.

    Of trials with equal figures, the first stays.
    """
    front: list[Trial] = []
    known = [trial for trial in trials if not trial.stopped]
    for trial in sorted(known, key=lambda trial: (trial.cost(objective), -trial.success)):
        if not front or trial.success > front[-1].success:
            front.append(trial)
    return front
