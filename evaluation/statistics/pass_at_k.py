"""Estimates how reliably tasks succeed in all of k trials."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import fmean


def pass_hat_k(trials: Mapping[str, Sequence[bool]], k: int) -> float | None:
    """Estimate the chance that k trials of a task all succeed.

    The mean of C(successes, k) / C(trials, k) over the tasks with at least k trials; None if there is none.

    Source: Yao et al. (2024), tau-bench, arXiv 2406.12045, section 4.

    Args:
        trials: The outcomes of each task's trials.
        k: Number of trials, at least 1.
    """
    enough = [outcomes for outcomes in trials.values() if len(outcomes) >= k]
    chances = [math.comb(sum(outcomes), k) / math.comb(len(outcomes), k) for outcomes in enough]
    return fmean(chances) if chances else None
