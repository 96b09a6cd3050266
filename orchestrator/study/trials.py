"""Measured runs of tasks, the results of a policy on them, and the recommendation that they allow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Protocol

from evaluation.evalset.files import TaskCase
from evaluation.statistics import Interval, PairedDifference, paired_difference, proportion
from orchestrator.errors import OrchestratorError
from orchestrator.retry.policy import RetryPolicy
from orchestrator.study.replay import NamedPolicy, RecordedRun
from orchestrator.study.tune_spec import DEFAULT, FEWEST_HELD_OUT, TuneSpec


class BudgetSpentError(OrchestratorError):
    """The budget of a search is spent; everything that it has found is kept."""


@dataclass(frozen=True, slots=True)
class MeasuredRun:
    """One run of a task under a policy.

    Attributes:
        success: Whether every step was accepted, none as the best of several refused ones.
        tokens: Tokens of its model calls; None if a model did not report them.
        run: Its attempts, for replay.
    """

    success: bool
    tokens: int | None
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
    """

    candidate: NamedPolicy
    by_task: Mapping[str, MeasuredRun]

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

    @property
    def tokens(self) -> float:
        """Mean tokens of a run; 0 if a run does not report them."""
        values = [run.tokens for run in self.by_task.values()]
        return fmean([value for value in values if value is not None]) if None not in values else 0.0


def choose_best(trials: Sequence[Trial]) -> Trial | None:
    """Returns the trial with the most success; of equal ones, the one with the fewest tokens."""
    return max(trials, key=lambda trial: (trial.success, -trial.tokens), default=None)


@dataclass(frozen=True, slots=True)
class Recommendation:
    """The policy to use, and what it rests on.

    Attributes:
        candidate: The recommended policy.
        sentence: The recommendation with its reason, in one sentence.
        best: The best policy of the search on the tasks of the search.
        held_out: The best policy and the default on the held-out tasks; None if the default is the best.
        difference: Of their success on the held-out tasks, the best minus the default; None as above.
    """

    candidate: NamedPolicy
    sentence: str
    best: Trial | None = None
    held_out: tuple[Trial, Trial] | None = None
    difference: PairedDifference | None = None

    @property
    def is_told_apart(self) -> bool:
        """Whether another policy than the default is recommended."""
        return self.candidate is not DEFAULT


@dataclass(frozen=True, slots=True)
class TuneResult:
    """The result of a search.

    Attributes:
        spec: The specification.
        trials: Every policy tried, the default first.
        recommendation: The policy to use, and what it rests on.
        stopped: Why the search ended early; None if it did not.
    """

    spec: TuneSpec
    trials: Sequence[Trial]
    recommendation: Recommendation
    stopped: str | None

    @property
    def policy_yaml(self) -> str:
        """The recommended policy, as ``RetryPolicy.from_yaml`` reads it."""
        return self.recommendation.candidate.policy.to_yaml()

    @property
    def runs(self) -> list[RecordedRun]:
        """The attempts of all runs of the search, for ``replay``."""
        return [measured.run for trial in self.trials for measured in trial.by_task.values()]


def recommend(best: Trial | None, held_out: tuple[Trial, Trial] | None) -> Recommendation:
    """Recommends the best policy of a search, or the default.

    Args:
        best: The best policy on the tasks of the search.
        held_out: The best policy and the default on the tasks that the search did not see; None if the
            default is the best, or if no such run was possible.
    """
    if best is None or best.candidate == DEFAULT:
        return _keep_default("no policy was better on the tasks of the search", best)
    if held_out is None:
        return _keep_default("nothing can be told apart without held-out runs", best)
    after, before = held_out
    difference = paired_difference(before.successes, after.successes)
    low, high = difference.interval
    count, name = len(after.by_task), best.candidate.name
    measured = f"{difference.mean:+.3f} on {count} held-out tasks (95 % interval {low:+.3f} to {high:+.3f})"
    if count < FEWEST_HELD_OUT:
        reason = f"nothing can be told apart with fewer than {FEWEST_HELD_OUT} held-out tasks (here {count})"
    elif low <= 0.0:
        reason = f"nothing can be told apart; the success rate of {name} differs by {measured}"
    else:
        use = f"Use {name}: its success rate differs from the default's by {measured}."
        return Recommendation(best.candidate, use, best, held_out, difference)
    return _keep_default(reason, best, held_out, difference)


def _keep_default(
    reason: str,
    best: Trial | None = None,
    held_out: tuple[Trial, Trial] | None = None,
    difference: PairedDifference | None = None,
) -> Recommendation:
    return Recommendation(DEFAULT, f"Keep the default: {reason}.", best, held_out, difference)
