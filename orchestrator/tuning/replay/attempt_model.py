"""The chance that a further attempt passes, by its strategy and the kind of the failure before it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias

import numpy as np

from orchestrator.retry.attempts import Attempt
from orchestrator.tuning.replay.attempts import failure_kind, has_passed
from orchestrator.tuning.replay.table import Floats, Table, Weights

Cell: TypeAlias = tuple[str, str, str]
"""A strategy, the kind of the failure that it follows, and the model of the step's first attempt."""
Evidence: TypeAlias = tuple[int, int]
"""Attempts at one step of a task in one cell: those that passed, and those that failed."""

_MEANS: Final = np.linspace(0.01, 0.99, 50)
_SIZES: Final = np.array([0.3, 0.6, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 1000.0])
"""Values of a + b of the beta distribution. Tasks differ much if it is small, hardly if it is large."""
_BORROWED: Final = 2.0
"""Observations that a cell borrows from the strategy's other kinds of failure."""
_RARE: Final = 0.05
"""Share below which a kind of failure is left out of what may come next."""


def find_cell(strategy: str, history: Sequence[Attempt]) -> Cell:
    """Returns the cell of an attempt that follows a history whose last attempt failed."""
    return strategy, failure_kind(history[-1]), history[0].model or ""


def pool_cell(cell: Cell) -> Cell:
    """Returns the cell of all attempts by its strategy."""
    return cell[0], "", ""


@dataclass(frozen=True, slots=True)
class Chances:
    """Draws of the parameters of one cell, [D] each: the chance of a task is Beta(a, b)."""

    a: Floats
    b: Floats
    observations: int

    def after(self, passed: Floats, failed: Floats) -> Floats:
        """Returns the chance of tasks with this evidence, [E, D] for [E] tasks."""
        a = self.a + passed[:, None]
        return a / (a + self.b + failed[:, None])


@dataclass(frozen=True, slots=True)
class AttemptModel:
    """A model of attempts that were not recorded, fitted to those that were.

    Within a cell, each step of a task has its own chance to pass, drawn from Beta(a, b): a step that failed
    often is likely to fail again. (a, b) has a posterior on a grid, with Jeffreys' prior of the mean and a
    flat one of log(a + b). It is drawn from, so that few observations give wide intervals. The draws are put
    in the order of the weights that tasks have in the bootstrap: a draw of lucky tasks has both high recorded
    rates and high chances.

    Sources: Fader and Hardie (2007), How to project customer retention, Journal of Interactive Marketing 21
    (the beta-geometric model of attempts until success); Gelman et al. (2013), Bayesian data analysis, 5.3.
    """

    draws: int
    chances: Mapping[Cell, Chances]
    following: Mapping[Cell, Mapping[str, Floats]]
    resources: Mapping[str, Floats]
    unknown: Chances
    evidence: Mapping[int, Mapping[Cell, Evidence]] = field(default_factory=dict)

    def chance(self, cell: Cell) -> Chances:
        """Returns the draws of a cell, or of the prior if its strategy was never recorded."""
        return self.chances.get(cell) or self.chances.get(pool_cell(cell)) or self.unknown

    def next_kinds(self, cell: Cell) -> Mapping[str, Floats]:
        """Returns which kinds of failure follow in a cell, with draws of their shares, [D]."""
        return self.following.get(cell) or {cell[1]: np.ones(self.draws)}

    def cost(self, strategy: str) -> Floats:
        """Returns the mean resources of an attempt, [4]; for a new strategy, over all attempts."""
        known = self.resources.get(strategy)
        return self.resources[""] if known is None else known

    def is_recorded(self, strategy: str) -> bool:
        """Returns whether any attempt by this strategy was recorded."""
        return pool_cell((strategy, "", "")) in self.chances


def fit_model(table: Table, weights: Weights, source: np.random.Generator) -> AttemptModel:
    """Fits the model to all recorded attempts after a failure.

    Args:
        table: The recorded runs.
        weights: Weights of the tasks in each of D draws, [D, T].
        source: Of the draws of parameters.
    """
    evidence, draws = _count_evidence(table), len(weights)
    observed = _list_observed(table, evidence)
    likelihoods = {
        cell: _log_likelihood({key: len(each) for key, each in tasks.items()})
        for cell, tasks in observed.items()
    }
    sizes = {
        cell: sum(sum(key) * len(each) for key, each in tasks.items()) for cell, tasks in observed.items()
    }
    chances = {
        cell: _put_in_order(
            _draw(_borrow(cell, likelihoods, sizes), sizes[cell], draws, source), observed[cell], weights
        )
        for cell in likelihoods
    }
    flat = np.zeros((len(_MEANS), len(_SIZES)))
    unknown = _draw(flat, 0, draws, source)
    following = {cell: _draw_shares(counts, draws, source) for cell, counts in _count_kinds(table).items()}
    return AttemptModel(draws, chances, following, _mean_resources(table), unknown, evidence)


def _list_observed(
    table: Table, evidence: Mapping[int, Mapping[Cell, Evidence]]
) -> dict[Cell, dict[Evidence, list[int]]]:
    """Lists the tasks with each evidence in each cell; a task once for each of its steps."""
    task_of = dict(zip(table.item_of.tolist(), table.task_of[table.run_of].tolist(), strict=True))
    observed: dict[Cell, dict[Evidence, list[int]]] = {}
    for item, cells in evidence.items():
        for own, counts in cells.items():
            for cell in (own, pool_cell(own)):
                observed.setdefault(cell, {}).setdefault(counts, []).append(task_of[item])
    return observed


def _put_in_order(chances: Chances, observed: Mapping[Evidence, Sequence[int]], weights: Weights) -> Chances:
    """Puts draws in the order of the mean chance that the weighted tasks of each draw suggest."""
    total = np.zeros((len(weights), len(_MEANS) * len(_SIZES)))
    for evidence, tasks in observed.items():
        total += np.outer(weights[:, tasks].sum(axis=1), _log_likelihood({evidence: 1}).ravel())
    posterior = np.exp(total - total.max(axis=1, keepdims=True))
    means = posterior @ np.repeat(_MEANS, len(_SIZES)) / posterior.sum(axis=1)
    ranks = means.argsort().argsort()
    order = (chances.a / (chances.a + chances.b)).argsort()[ranks]
    return Chances(chances.a[order], chances.b[order], chances.observations)


def _borrow(cell: Cell, likelihoods: Mapping[Cell, Floats], sizes: Mapping[Cell, int]) -> Floats:
    pooled = pool_cell(cell)
    if cell == pooled:
        return likelihoods[cell]
    return likelihoods[cell] + likelihoods[pooled] * min(1.0, _BORROWED / sizes[pooled])


def _log_likelihood(counts: Mapping[Evidence, int]) -> Floats:
    """Returns the log-likelihood of beta-binomial counts on the grid, [means, sizes]."""
    a, b = _MEANS[:, None] * _SIZES, (1.0 - _MEANS)[:, None] * _SIZES
    total = np.zeros(a.shape)
    for (passed, failed), tasks in counts.items():
        total += tasks * (
            _log_rising(a, passed) + _log_rising(b, failed) - _log_rising(a + b, passed + failed)
        )
    return total


def _log_rising(start: Floats, count: int) -> Floats:
    """Returns log(start (start + 1) ... (start + count - 1)), which is log gamma's difference."""
    steps = np.arange(count)
    logarithms: Floats = np.log(start[..., None] + steps).sum(axis=-1)
    return logarithms


def _draw(likelihood: Floats, observations: int, draws: int, source: np.random.Generator) -> Chances:
    prior = -0.5 * np.log(_MEANS * (1.0 - _MEANS))[:, None]
    weights = np.exp(likelihood + prior - (likelihood + prior).max()).ravel()
    picked = source.choice(weights.size, size=draws, p=weights / weights.sum())
    means, sizes = _MEANS[picked // len(_SIZES)], _SIZES[picked % len(_SIZES)]
    return Chances(means * sizes, (1.0 - means) * sizes, observations)


def _count_evidence(table: Table) -> dict[int, dict[Cell, Evidence]]:
    """Counts the attempts after a failure, by the step of a task, and by cell."""
    evidence: dict[int, dict[Cell, Evidence]] = {}
    counted = Counter(zip(table.item_of.tolist(), table.group_of.tolist(), strict=True))
    for (item, group), steps in counted.items():
        cells = evidence.setdefault(item, {})
        for cell, attempt in _retries(table.histories[group]):
            passed, failed = cells.get(cell, (0, 0))
            cells[cell] = (passed + steps * has_passed(attempt), failed + steps * (not has_passed(attempt)))
    return evidence


def _count_kinds(table: Table) -> dict[Cell, Counter[str]]:
    kinds: dict[Cell, Counter[str]] = {}
    for group, steps in enumerate(np.bincount(table.group_of).tolist()):
        for cell, attempt in _retries(table.histories[group]):
            if not has_passed(attempt):
                kinds.setdefault(cell, Counter())[failure_kind(attempt)] += steps
    return kinds


def _draw_shares(counts: Counter[str], draws: int, source: np.random.Generator) -> dict[str, Floats]:
    """Draws the shares of the frequent kinds, [D] each, with Jeffreys' prior."""
    frequent = {kind: n + 0.5 for kind, n in counts.items() if n >= _RARE * counts.total()}
    shares = source.dirichlet(list(frequent.values()), draws)
    return dict(zip(frequent, shares.T, strict=True))


def _mean_resources(table: Table) -> dict[str, Floats]:
    """Returns the mean resources of an attempt by each strategy, and under "" by any."""
    each = np.diff(table.totals, axis=1)
    strategies = np.full((len(table.histories), each.shape[1]), "", dtype=object)
    for group, history in enumerate(table.histories):
        strategies[group, : len(history)] = [attempt.strategy for attempt in history]
    used = strategies[table.group_of]
    means = {name: each[used == name].mean(axis=0) for name in set(used.ravel().tolist()) if name}
    return {**means, "": each[used != ""].mean(axis=0)}


def _retries(history: Sequence[Attempt]) -> list[tuple[Cell, Attempt]]:
    return [
        (find_cell(attempt.strategy, history[:made]), attempt)
        for made, attempt in enumerate(history)
        if made and not has_passed(history[made - 1])
    ]
