"""Recommends a policy: the best of the search, if tasks that the search did not see confirm it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evaluation.statistics.means import PairedDifference, paired_difference
from orchestrator.tuning.candidates import Candidate
from orchestrator.tuning.study_tasks import FEWEST_HELD_OUT
from orchestrator.tuning.trials import Trial
from orchestrator.tuning.tune_spec import Objective, TuneSpec


@dataclass(frozen=True, slots=True)
class Recommendation:
    """The policy to use, and what it rests on.

    Attributes:
        candidate: The recommended candidate.
        sentence: The recommendation with its reason, in one sentence.
        refutation: What was compared, and what would refute it.
        best: The best candidate of the search on the tasks of the search.
        held_out: The best candidate and the default on the held-out tasks; None if the default is the best.
        difference: Of their values on the held-out tasks, the best minus the default; None as above.
        is_told_apart: Whether the interval of the difference excludes 0.
    """

    candidate: Candidate
    sentence: str
    refutation: str
    best: Trial | None
    held_out: tuple[Trial, Trial] | None
    difference: PairedDifference | None
    is_told_apart: bool


@dataclass(frozen=True, slots=True)
class TuneResult:
    """The result of a search.

    Attributes:
        spec: The specification.
        trials: Every policy tried, the default first.
        front: Those that no other beats in success and cost at once.
        recommendation: The policy to use, and what it rests on.
        stopped: Why the search ended early; None if it did not.
    """

    spec: TuneSpec
    trials: Sequence[Trial]
    front: Sequence[Trial]
    recommendation: Recommendation
    stopped: str | None

    @property
    def policy_yaml(self) -> str:
        """The recommended policy, as ``RetryPolicy.from_yaml`` reads it."""
        return self.recommendation.candidate.policy.to_yaml()


def recommend(
    default: Trial, best: Trial | None, held_out: tuple[Trial, Trial] | None, objective: Objective
) -> Recommendation:
    """Recommends the best candidate of a search, or the default.

    Args:
        default: The default on the tasks of the search.
        best: The best candidate on these tasks; None if every one breaks a limit.
        held_out: The best candidate and the default on the tasks that the search did not see; None if the
            default is the best, or if no such run was possible.
        objective: What makes a policy better.
    """
    if best is None:
        return _keep(default, "every policy breaks a limit of the objective", best)
    if best.candidate.digest == default.candidate.digest:
        return _keep(default, "no policy was better on the tasks of the search", best)
    if held_out is None:
        return _keep(default, "nothing can be told apart without held-out runs", best)
    return _compare(default, best, held_out, objective)


def _compare(
    default: Trial, best: Trial, held_out: tuple[Trial, Trial], objective: Objective
) -> Recommendation:
    after, before = held_out
    difference = paired_difference(before.values("success"), after.values("success"))
    low, high = difference.interval
    count, name = len(after.by_task), best.candidate.name
    measured = f"{difference.mean:+.3f} on {count} held-out tasks (95 % interval {low:+.3f} to {high:+.3f})"
    reason = None
    if broken := after.broken_limit(objective):
        reason = f"on the held-out tasks, {name} breaks a limit ({broken})"
    elif count < FEWEST_HELD_OUT:
        reason = f"nothing can be told apart with fewer than {FEWEST_HELD_OUT} held-out tasks (here {count})"
    elif low <= 0.0:
        reason = f"nothing can be told apart; the success rate of {name} differs by {measured}"
    is_better = reason is None
    use = f"Use {name}: its success rate differs from the default's by {measured}."
    return Recommendation(
        candidate=best.candidate if is_better else default.candidate,
        sentence=use if is_better else f"Keep the default: {reason}.",
        refutation=_describe_refutation(default, best, count, is_better=is_better),
        best=best,
        held_out=held_out,
        difference=difference,
        is_told_apart=is_better,
    )


def _keep(default: Trial, reason: str, best: Trial | None) -> Recommendation:
    refutation = (
        f"Compared by their success rate on the same {len(default.by_task)} tasks; more tasks, or other "
        "policies, could show a difference."
    )
    sentence = f"Keep the default: {reason}."
    return Recommendation(default.candidate, sentence, refutation, best, None, None, is_told_apart=False)


def _describe_refutation(default: Trial, best: Trial, held_out: int, *, is_better: bool) -> str:
    compared = (
        f"{best.candidate.name} was chosen on {len(default.by_task)} tasks and compared with the default on "
        f"{held_out} others, on the same tasks and seeds"
    )
    if is_better:
        return f"{compared}; {held_out} new tasks on which the interval contains 0 refute it."
    return f"{compared}; an interval above 0 on more tasks refutes it."
