"""How reliably tasks succeed: all of k trials, or at least one of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from evaluation.errors import ContractError

Trials = Mapping[str, Sequence[bool | None]]
"""The outcomes of each task's trials; None for a trial that could not be judged."""


@dataclass(frozen=True, slots=True)
class PassRate:
    """A mean over tasks, with the tasks that it leaves out."""

    k: int
    value: float | None
    """None where no task has k judged trials."""
    tasks: int
    """How many tasks the mean is over."""
    too_few: tuple[str, ...]
    """The tasks with fewer than k judged trials, in the order given."""
    unjudged_trials: int


def pass_hat_k(trials: Trials, k: int) -> PassRate:
    """Estimate the chance that k trials of a task all succeed.

    The mean over tasks of C(successes, k) / C(trials, k).

    Source: Yao et al. (2024), tau-bench, arXiv 2406.12045, section 4.

    Raises:
        ContractError: ``k`` is less than 1.
    """
    return _mean(trials, k, _all_of)


def pass_at_k(trials: Trials, k: int) -> PassRate:
    """Estimate the chance that at least one of k trials of a task succeeds.

    The mean over tasks of 1 - C(failures, k) / C(trials, k).

    Source: Chen et al. (2021), Evaluating large language models trained on code, arXiv 2107.03374.

    Raises:
        ContractError: ``k`` is less than 1.
    """
    return _mean(trials, k, lambda successes, count, k: 1.0 - _all_of(count - successes, count, k))


def _mean(trials: Trials, k: int, chance: Callable[[int, int, int], float]) -> PassRate:
    if k < 1:
        raise ContractError(f"k is the number of trials of a task, 1 or more, not {k}")
    judged = {task: [won for won in outcomes if won is not None] for task, outcomes in trials.items()}
    enough = [won for won in judged.values() if len(won) >= k]
    chances = [chance(sum(won), len(won), k) for won in enough]
    return PassRate(
        k=k,
        value=math.fsum(chances) / len(chances) if chances else None,
        tasks=len(chances),
        too_few=tuple(task for task, won in judged.items() if len(won) < k),
        unjudged_trials=sum(map(len, trials.values())) - sum(map(len, judged.values())),
    )


def _all_of(winners: int, count: int, k: int) -> float:
    # C(winners, k) / C(count, k), factor by factor: the binomials themselves have thousands of digits.
    return math.prod((winners - drawn) / (count - drawn) for drawn in range(k)) if winners >= k else 0.0
