"""The results of a policy on tasks: one value of each quantity for each task."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean

from evaluation.statistics.intervals import Interval, proportion
from evaluation.statistics.means import FEWEST, mean_variance
from evaluation.statistics.quantiles import t_quantile
from orchestrator.tuning.candidates import Candidate
from orchestrator.tuning.tune_spec import Objective, Quantity

Values = Mapping[str, float]
"""Quantities of a task by name, as means over its runs; a quantity that is unknown is left out."""
_UPPER = 0.975


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

    def broken_limit(self, objective: Objective) -> str | None:
        """Returns which limit of the objective its mean exceeds; None if none."""
        for quantity, limit in objective.limits.items():
            mean = self.mean(quantity)
            if mean is None or mean > limit:
                shown = "unknown" if mean is None else f"{mean:.4g}"
                return f"{quantity} per run is {shown}, the limit is {limit:g}"
        return None


def find_front(trials: Sequence[Trial], objective: Objective) -> list[Trial]:
    """Returns the trials that no other beats in success and cost at once, the cheapest first.

    Of trials with equal figures, the first stays.
    """
    front: list[Trial] = []
    known = [trial for trial in trials if trial.stopped is None and trial.mean(objective.against) is not None]

    def order(trial: Trial) -> tuple[float, float]:
        return trial.mean(objective.against) or 0.0, -(trial.mean("success") or 0.0)

    for trial in sorted(known, key=order):
        if not front or (trial.mean("success") or 0.0) > (front[-1].mean("success") or 0.0):
            front.append(trial)
    return front
