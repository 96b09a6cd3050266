"""Recommends a policy: the best of the search, if tasks that the search did not see confirm it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evaluation.statistics.means import PairedDifference, paired_difference
from orchestrator.tuning.candidates import DEFAULT
from orchestrator.tuning.replay import NamedPolicy, RecordedRun
from orchestrator.tuning.study_tasks import FEWEST_HELD_OUT
from orchestrator.tuning.trials import Trial
from orchestrator.tuning.tune_spec import Objective, TuneSpec


@dataclass(frozen=True, slots=True)
class Recommendation:
    """The policy to use, and what it rests on.

    Attributes:
        candidate: The recommended policy.
        sentence: The recommendation with its reason, in one sentence.
        best: The best policy of the search on the tasks of the search; None if every one breaks a limit.
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


def recommend(
    best: Trial | None, held_out: tuple[Trial, Trial] | None, objective: Objective
) -> Recommendation:
    """Recommends the best policy of a search, or the default.

    Args:
        best: The best policy on the tasks of the search; None if every one breaks a limit.
        held_out: The best policy and the default on the tasks that the search did not see; None if the
            default is the best, or if no such run was possible.
        objective: What makes a policy better.
    """
    if best is None:
        return _keep_default("every policy breaks a limit of the objective")
    if best.candidate == DEFAULT:
        return _keep_default("no policy was better on the tasks of the search", best)
    if held_out is None:
        return _keep_default("nothing can be told apart without held-out runs", best)
    after, before = held_out
    difference = paired_difference(before.successes, after.successes)
    low, high = difference.interval
    count, name = len(after.by_task), best.candidate.name
    measured = f"{difference.mean:+.3f} on {count} held-out tasks (95 % interval {low:+.3f} to {high:+.3f})"
    if broken := after.broken_limit(objective):
        reason = f"on the held-out tasks, {name} breaks a limit ({broken})"
    elif count < FEWEST_HELD_OUT:
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
