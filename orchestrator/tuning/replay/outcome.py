"""What one policy makes of every recorded run: chances to succeed, resources, and their uncertainty."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from orchestrator.tuning.replay.attempt_model import AttemptModel, Cell, Evidence
from orchestrator.tuning.replay.attempts import ReplayPolicy, has_passed
from orchestrator.tuning.replay.forecast import forecast, walk_recorded
from orchestrator.tuning.replay.table import RESOURCES, Floats, Ints, Table, Weights

QUANTITIES: Final = ("success", *RESOURCES)
Flags: TypeAlias = NDArray[np.bool_]
_BORROWED: Final = 2.0
"""Average steps that the estimate for steps that were never reached borrows."""
_TINY: Final = 1e-9


@dataclass(frozen=True, slots=True)
class Units:
    """Steps with the same history, of tasks with the same evidence, are one unit; U of them.

    Attributes:
        of_step: Unit of each step, [S].
        group_of: Group of each unit, [U].
        by_group: The units of each group, with the evidence of each.
    """

    of_step: Ints
    group_of: Ints
    by_group: Mapping[int, Sequence[tuple[int, Mapping[Cell, Evidence]]]]


def find_units(table: Table, model: AttemptModel) -> Units:
    """Groups steps that every policy treats alike and that have the same chances."""
    classes: dict[frozenset[tuple[Cell, Evidence]], int] = {}
    class_of = [
        classes.setdefault(frozenset(model.evidence[item].items()), len(classes))
        for item in range(len(model.evidence))
    ]
    evidence = [dict(items) for items in classes]
    codes = table.group_of * len(classes) + np.array(class_of)[table.item_of]
    unique, of_step = np.unique(codes, return_inverse=True)
    by_group: dict[int, list[tuple[int, Mapping[Cell, Evidence]]]] = {}
    for unit, code in enumerate(unique.tolist()):
        by_group.setdefault(code // len(classes), []).append((unit, evidence[code % len(classes)]))
    return Units(of_step, unique // len(classes), by_group)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The results of a policy on R runs.

    Attributes:
        values: Expected quantities of each run, [R, 5], in the order of ``QUANTITIES``.
        noise: Deviations of their means under D draws of the model, [D, 5].
        exact: Whether the recorded attempts suffice for each run, [R].
        strategies: Strategies that had to be forecast.
    """

    values: Floats
    noise: Floats
    exact: Flags
    strategies: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Steps:
    """What a policy makes of each unit: [G] recorded, then [U, ...] forecast."""

    used: Ints
    success: Floats
    extra: Floats
    deviations: Mapping[int, Floats]
    strategies: frozenset[str]


def replay_policy(
    policy: ReplayPolicy, table: Table, model: AttemptModel, units: Units, weights: Weights
) -> Outcome:
    """Replays all runs under one policy; ``weights`` are those of the tasks in each draw, [D, T]."""
    steps = _replay_steps(policy, table, model, units)
    success = steps.success[units.of_step]
    used = table.totals[np.arange(len(success)), steps.used[table.group_of]]
    resources = used + steps.extra[units.of_step]
    recorded, reached = _join_steps(table, success, resources)
    missing = _Missing.estimate(table, success, resources)
    values = missing.add(table, recorded)
    slope = missing.slope(table, values[:, 0])
    # A step's chance is a factor of its run's chance, so the derivative is the product of the others.
    factors = np.divide(values[table.run_of, 0], success, out=np.zeros_like(success), where=success > 0.0)
    factors += slope * table.runs * missing.weights
    noise = _spread(steps, table, units, factors, reached) + np.zeros((model.draws, 1))
    noise[:, 0] += slope * missing.spread(table, success, weights)
    return Outcome(values, noise, _find_exact(table, units, steps, recorded[:, 0]), steps.strategies)


def _find_exact(table: Table, units: Units, steps: _Steps, reach: Floats) -> Flags:
    """Returns for which runs the recorded attempts suffice."""
    is_forecast = np.zeros(len(units.group_of), dtype=bool)
    is_forecast[list(steps.deviations)] = True
    forecasts = np.bincount(table.run_of, is_forecast[units.of_step], table.runs)
    exact: Flags = (forecasts == 0) & ((table.missing == 0) | (reach == 0.0))
    return exact


def _replay_steps(policy: ReplayPolicy, table: Table, model: AttemptModel, units: Units) -> _Steps:
    walks = [walk_recorded(policy, history) for history in table.histories]
    success = np.array([float(walks[group].passed) for group in units.group_of.tolist()])
    extra, deviations = np.zeros((len(success), len(RESOURCES))), {}
    for group, (walk, history) in enumerate(zip(walks, table.histories, strict=True)):
        if walk.strategy is not None:
            members = units.by_group[group]
            evidence = [each for _, each in members]
            rest = forecast(policy, history[: walk.used], walk.strategy, model, evidence)
            draws = np.concatenate([rest.success[None], rest.resources])  # [5, E, D]
            for place, (unit, _) in enumerate(members):
                means = draws[:, place].mean(axis=1)
                success[unit], extra[unit] = means[0], means[1:]
                deviations[unit] = draws[:, place] - means[:, None]
    strategies = frozenset(walk.strategy for walk in walks if walk.strategy is not None)
    return _Steps(np.array([walk.used for walk in walks]), success, extra, deviations, strategies)


def _join_steps(table: Table, success: Floats, resources: Floats) -> tuple[Floats, Floats]:
    """Joins the steps of each run: a step is reached if all before it passed.

    Returns:
        The quantities of each run, [R, 5], and the chance that each step is reached, [S].
    """
    reach, spent = np.ones(table.runs), np.zeros((table.runs, len(RESOURCES)))
    reached = np.ones(len(success))
    for place in range(int(table.position.max()) + 1):
        steps = np.flatnonzero(table.position == place)
        runs = table.run_of[steps]
        reached[steps] = reach[runs]
        spent[runs] += reach[runs, None] * resources[steps]
        reach[runs] *= success[steps]
    return np.column_stack([reach, spent]), reached


@dataclass(frozen=True, slots=True)
class _Missing:
    """The steps that a recorded run never reached, because a step before them failed: chance and cost.

    They are like the recorded steps that follow a step whose first attempt failed.
    """

    chance: float
    steps: float
    resources: Floats
    weights: Floats
    """By how much the chance grows with that of each recorded step, [S]."""

    @staticmethod
    def estimate(table: Table, success: Floats, resources: Floats) -> _Missing:
        """Estimates the chance and the cost from the recorded steps under the same policy."""
        failed_first = np.array([not has_passed(history[0]) for history in table.histories])[table.group_of]
        follows = (table.position > 0) & np.roll(failed_first, 1)
        steps = float(follows.sum()) + _BORROWED
        weights = (follows + _BORROWED / len(success)) / steps
        return _Missing(float((weights * success).sum()), steps, resources.mean(axis=0), weights)

    def add(self, table: Table, values: Floats) -> Floats:
        """Returns the quantities of the runs with these steps."""
        reach, spent = values[:, 0].copy(), values[:, 1:].copy()
        for place in range(int(table.missing.max())):
            going_on = (table.missing > place) & (reach > 0.0)
            spent[going_on] += reach[going_on, None] * self.resources
            reach[going_on] *= self.chance
        return np.column_stack([reach, spent])

    def slope(self, table: Table, reach: Floats) -> float:
        """Returns by how much the rate of success grows with the chance."""
        return float((reach * table.missing).sum()) / table.runs / max(self.chance, _TINY)

    def spread(self, table: Table, success: Floats, weights: Weights) -> Floats:
        """Returns deviations of the chance with other tasks, because few steps were recorded, [D].

        The recorded rates deviate with the same weights: tasks that are lucky are so in both.
        """
        if not table.missing.any():
            return np.zeros(len(weights))
        tasks, task_of = len(table.tasks), table.task_of[table.run_of]
        size = np.bincount(task_of, self.weights, tasks)
        passed = np.bincount(task_of, self.weights * success, tasks)
        # In the precision of the weights: another one would copy all of them.
        both = np.column_stack([size, passed]).astype(np.float32)
        sizes, passes = (weights @ both).astype(float).T
        chances = passes / np.maximum(sizes, _TINY)
        deviations: Floats = chances - chances.mean()
        return deviations


def _spread(steps: _Steps, table: Table, units: Units, factors: Floats, reached: Floats) -> Floats:
    """Returns how the means of the runs deviate under each draw of the model, to first order, [D, 5]."""
    count = len(units.group_of)
    of_success = np.bincount(units.of_step, factors, count)
    of_resources = np.bincount(units.of_step, reached, count)
    noise = np.zeros((len(QUANTITIES), 1))
    for unit, deviation in steps.deviations.items():
        weights = np.array([of_success[unit], *[of_resources[unit]] * len(RESOURCES)])
        noise = noise + weights[:, None] * deviation
    return noise.T / table.runs
