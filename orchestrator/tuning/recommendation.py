"""Recommends a policy: the best of the search, if tasks that the search did not see confirm it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from evaluation.statistics.paired import PairedDifference, paired_difference
from orchestrator.tuning.candidates import Candidate
from orchestrator.tuning.spec import Objective
from orchestrator.tuning.trials import Trial

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
        return _keep(default, "every policy breaks a limit of the objective", best, objective)
    if best.candidate.digest == default.candidate.digest:
        return _keep(default, "no policy was better on the tasks of the search", best, objective)
    if held_out is None:
        return _keep(default, "nothing can be told apart without held-out runs", best, objective)
    return _compare(default, best, held_out, objective)


def _compare(
    default: Trial, best: Trial, held_out: tuple[Trial, Trial], objective: Objective
) -> Recommendation:
    after, before = held_out
    tasks = [task for task in after.by_task if task in before.by_task]
    difference = paired_difference(before.scores(objective, tasks), after.scores(objective, tasks))
    interval = f"{difference.interval.low:+.3f} to {difference.interval.high:+.3f}"
    measured = f"{difference.mean:+.3f} on {len(tasks)} held-out tasks (95 % interval {interval})"
    broken = after.broken_limit(objective)
    is_better = difference.interval.low > 0.0 and len(tasks) >= FEWEST_TASKS and broken is None
    if is_better:
        name = best.candidate.name
        sentence = f"Use {name}: its {_name_value(objective)} differs from the default's by {measured}."
    elif broken is not None:
        sentence = (
            f"Keep the default: on the held-out tasks, {best.candidate.name} breaks a limit ({broken})."
        )
    elif len(tasks) < FEWEST_TASKS:
        sentence = (
            f"Keep the default: nothing can be told apart with fewer than {FEWEST_TASKS} held-out tasks "
            f"(here {len(tasks)})."
        )
    else:
        sentence = (
            f"Keep the default: nothing can be told apart; the {_name_value(objective)} of "
            f"{best.candidate.name} differs by {measured}."
        )
    return Recommendation(
        best.candidate if is_better else default.candidate,
        sentence,
        _describe_refutation(default, best, held_out, is_better=is_better),
        best,
        held_out,
        difference,
        is_better,
    )


def _keep(default: Trial, reason: str, best: Trial | None, objective: Objective) -> Recommendation:
    count = len(default.by_task)
    refutation = (
        f"Compared by their {_name_value(objective)} on the same {count} tasks; more tasks, or other "
        "policies, could show a difference."
    )
    return Recommendation(
        default.candidate, f"Keep the default: {reason}.", refutation, best, None, None, is_told_apart=False
    )


def _describe_refutation(
    default: Trial, best: Trial, held_out: tuple[Trial, Trial], *, is_better: bool
) -> str:
    tasks = len(held_out[0].by_task)
    compared = (
        f"{best.candidate.name} was chosen on {len(default.by_task)} tasks and compared with the default on "
        f"{tasks} others, on the same tasks and seeds"
    )
    extrapolated = "" if best.exact else "; it is extrapolated from recorded attempts, so run it for real"
    if is_better:
        return f"{compared}{extrapolated}; {tasks} new tasks on which the interval contains 0 refute it."
    return f"{compared}{extrapolated}; an interval above 0 on more tasks refutes it."


def _name_value(objective: Objective) -> str:
    return "success rate" if dict(objective.weights) == {"success": 1.0} else "weighted value"
