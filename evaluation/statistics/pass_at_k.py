"""Estimates how reliably tasks succeed: in all of k trials, or in at least one of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from evaluation.errors import ContractError

Trials = Mapping[str, Sequence[bool | None]]
"""The outcomes of each task's trials. None is a trial that could not be judged."""


@dataclass(frozen=True, slots=True)
class PassRate:
    """A mean over tasks, and the tasks that it leaves out."""

    k: int
    value: float | None
    """None if no task has k judged trials."""
    tasks: int
    """Number of tasks in the mean."""
    too_few: tuple[str, ...]
    """Tasks with fewer than k judged trials, in the order of the input."""
    unjudged_trials: int


def pass_hat_k(trials: Trials, k: int) -> PassRate:
    """Estimate the chance that k trials of a task all succeed.

    The mean over tasks of C(successes, k) / C(trials, k).

    Source: Yao et al. (2024), tau-bench, arXiv 2406.12045, section 4.

    Raises:
        ContractError: ``k`` is less than 1.
    """
    return _mean_over_tasks(trials, k, _chance_of_all)


def pass_at_k(trials: Trials, k: int) -> PassRate:
    """Estimate the chance that at least one of k trials of a task succeeds.

    The mean over tasks of 1 - C(failures, k) / C(trials, k).

    Source: Chen et al. (2021), Evaluating large language models trained on code, arXiv 2107.03374.

    Raises:
        ContractError: ``k`` is less than 1.
    """
    return _mean_over_tasks(trials, k, lambda wins, count, k: 1.0 - _chance_of_all(count - wins, count, k))


def _mean_over_tasks(trials: Trials, k: int, chance: Callable[[int, int, int], float]) -> PassRate:
    if k < 1:
        raise ContractError(f"k has to be a number of trials, 1 or more, not {k}")
    judged = {
        task: [outcome for outcome in outcomes if outcome is not None] for task, outcomes in trials.items()
    }
    enough = [outcomes for outcomes in judged.values() if len(outcomes) >= k]
    chances = [chance(sum(outcomes), len(outcomes), k) for outcomes in enough]
    return PassRate(
        k=k,
        value=math.fsum(chances) / len(chances) if chances else None,
        tasks=len(chances),
        too_few=tuple(task for task, outcomes in judged.items() if len(outcomes) < k),
        unjudged_trials=sum(map(len, trials.values())) - sum(map(len, judged.values())),
    )


def _chance_of_all(winners: int, count: int, k: int) -> float:
    # C(winners, k) / C(count, k), factor by factor, because the binomials can have thousands of digits.
    return math.prod((winners - drawn) / (count - drawn) for drawn in range(k)) if winners >= k else 0.0
