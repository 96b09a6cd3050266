"""Recommends a policy: the best of the search, if tasks that the search did not see confirm it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from evaluation.statistics.paired import PairedDifference, paired_difference
from orchestrator.tuning.candidates import Candidate
from orchestrator.tuning.trials import Trial
from orchestrator.tuning.tune_spec import Objective

FEWEST_TASKS: Final = 10
"""With fewer held-out tasks, no difference is told apart."""


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
    reason = (
        f"on the held-out tasks, {name} breaks a limit ({broken})"
        if (broken := after.broken_limit(objective))
        else f"nothing can be told apart with fewer than {FEWEST_TASKS} held-out tasks (here {count})"
        if count < FEWEST_TASKS
        else f"nothing can be told apart; the success rate of {name} differs by {measured}"
        if low <= 0.0
        else None
    )
    is_better = reason is None
    return Recommendation(
        best.candidate if is_better else default.candidate,
        f"Use {name}: its success rate differs from the default's by {measured}."
        if is_better
        else f"Keep the default: {reason}.",
        _describe_refutation(default, best, count, is_better=is_better),
        best,
        held_out,
        difference,
        is_better,
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
