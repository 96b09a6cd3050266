"""Prediction intervals of the means of as many new runs, from the recorded ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from evaluation.statistics.intervals import Interval
from orchestrator.tuning.replay.outcome import Outcome
from orchestrator.tuning.replay.table import Floats, Table, Weights

_TAIL: Final = 0.025
_FRESH: Final = 5
"""New sets of runs that are drawn for each draw of the weights."""


def draw_weights(table: Table, draws: int, source: np.random.Generator) -> Weights:
    """Draws the weights of the tasks in the Bayesian bootstrap, [D, T]."""
    return source.standard_gamma(1.0, (draws, len(table.tasks)), dtype=np.float32)


def predict(
    outcomes: Sequence[Outcome], table: Table, weights: Weights, source: np.random.Generator
) -> list[list[tuple[float, Interval]]]:
    """Computes for each outcome the mean of each quantity, and its 95 % prediction interval.

    The interval is for the mean of as many new runs of as many other tasks of the same kind, so it contains
    the chance of drawing these tasks, of the new runs, and of the model of attempts. New runs of the same
    tasks vary less. Tasks are drawn by the Bayesian bootstrap, with half a success and half a failure added,
    so that a rate of 0 or 1 has an interval, too; runs of one task are drawn together.

    Source: Rubin (1981), The Bayesian bootstrap, Annals of Statistics 9.
    """
    added = source.standard_gamma(0.5, (len(weights), 2))
    counts = np.bincount(table.task_of, minlength=len(table.tasks))
    weighted_counts = (weights @ counts.astype(np.float32)).astype(float)
    return [_predict(outcome, table, weights, weighted_counts, added, source) for outcome in outcomes]


def _predict(  # noqa: PLR0917
    outcome: Outcome,
    table: Table,
    weights: Weights,
    weighted_counts: Floats,
    added: Floats,
    source: np.random.Generator,
) -> list[tuple[float, Interval]]:
    tasks = len(table.tasks)
    sums = np.column_stack([np.bincount(table.task_of, column, tasks) for column in outcome.values.T])
    counts = np.bincount(table.task_of, minlength=tasks).astype(float)
    means = outcome.values.mean(axis=0)
    weighted = (weights @ sums.astype(np.float32)).astype(float)
    # Each added item counts as much as an average task.
    size = counts.mean()
    rate = (weighted[:, 0] + added[:, 0] * size) / (weighted_counts + added.sum(axis=1) * size)
    others = weighted[:, 1:] / weighted_counts[:, None] + outcome.noise[:, 1:]
    # The variance of a mean over tasks; runs of one task may be alike.
    variance = ((sums - means * counts[:, None]) ** 2).sum(axis=0) / table.runs**2
    fresh = _draw_rates(rate + outcome.noise[:, 0], float(means[0]), float(variance[0]), table.runs, source)
    spread = source.standard_normal((_FRESH, *others.shape)) * np.sqrt(variance[1:])
    columns = [fresh, *np.moveaxis(others + spread, 2, 0).reshape(others.shape[1], -1)]
    return [(float(mean), _interval(column)) for mean, column in zip(means, columns, strict=True)]


def _draw_rates(
    rates: Floats, mean: float, variance: float, runs: int, source: np.random.Generator
) -> Floats:
    """Draws the rates of new sets of runs. Runs that are alike count as fewer independent ones."""
    independent = runs if variance <= 0.0 else min(runs, round(mean * (1.0 - mean) / variance))
    chances = np.clip(rates, 0.0, 1.0)
    return source.binomial(max(1, independent), chances, (_FRESH, len(rates))).ravel() / max(1, independent)


def _interval(values: Floats) -> Interval:
    low = np.quantile(values, _TAIL, method="lower")
    high = np.quantile(values, 1.0 - _TAIL, method="higher")
    return Interval(float(low), float(high))
