"""Replays recorded runs under other policies, without a model call."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from evaluation.statistics.intervals import Interval
from orchestrator.errors import ConfigurationError
from orchestrator.tuning.replay.attempt_model import AttemptModel, fit_model
from orchestrator.tuning.replay.attempts import RecordedRun, ReplayPolicy
from orchestrator.tuning.replay.outcome import Outcome, find_units, replay_policy
from orchestrator.tuning.replay.prediction import draw_weights, predict
from orchestrator.tuning.replay.table import Floats, build_table

_DRAWS: Final = 200


@dataclass(frozen=True, slots=True)
class Predicted:
    """A mean over runs, with the interval in which the mean of as many new runs lies with 95 %."""

    value: float | None
    interval: Interval | None


@dataclass(frozen=True, slots=True)
class Replayed:
    """The results that a policy would have had on the recorded runs.

    Attributes:
        policy: Its name.
        runs: Number of runs.
        exact_runs: Runs for which the recorded attempts suffice; the others are extrapolated.
        unseen: Strategies of the policy that no run recorded. Their chance is unknown: it is taken to be
            anything from 0 to 1, and their cost to be that of other attempts.
        success: Rate of runs that succeed.
        attempts: Executions per run.
        tokens: Tokens per run; without value if a run has unknown ones.
        cost_usd: As for ``tokens``.
        seconds: Seconds of model calls per run.
        by_run: Chance of each run to succeed: 0 or 1 if it is exact.
        resources_by_run: Expected resources of each run, [R, 4].
    """

    policy: str
    runs: int
    exact_runs: int
    unseen: frozenset[str]
    success: Predicted
    attempts: Predicted
    tokens: Predicted
    cost_usd: Predicted
    seconds: Predicted
    by_run: Floats = field(repr=False)
    resources_by_run: Floats = field(repr=False)

    @property
    def is_exact(self) -> bool:
        """Whether the recorded attempts suffice for every run."""
        return self.exact_runs == self.runs


def replay(runs: Sequence[RecordedRun], policies: Sequence[ReplayPolicy], seed: int = 0) -> list[Replayed]:
    """Replays recorded runs under each policy.

    As long as a policy makes the recorded attempts, its result is read from them. Where it goes on after the
    last one, or by another strategy, a model of attempts forecasts the rest (see ``AttemptModel``); such runs
    are not exact. Attempts are apart by strategy, kind of failure, and model of the step's first attempt.
    After a step that failed in the recording and might now pass, the steps that were never reached count as
    average steps under the same policy.

    Args:
        runs: The recorded runs; all attempts of a run were made by the same models.
        policies: With different names.
        seed: Of the draws for the intervals, 0 or more.

    Raises:
        ConfigurationError: There are no runs, one has no attempt, two policies have the same name, or a
            policy never ends.
    """
    _check_names(policies)
    table, source = build_table(runs), np.random.default_rng(seed)
    weights = draw_weights(table, _DRAWS, source)
    model = fit_model(table, weights, source)
    units = find_units(table, model)
    outcomes = [replay_policy(policy, table, model, units, weights) for policy in policies]
    predicted = predict(outcomes, table, weights, source)
    return [
        _describe(policy.name, model, outcome, quantities)
        for policy, outcome, quantities in zip(policies, outcomes, predicted, strict=True)
    ]


def _check_names(policies: Sequence[ReplayPolicy]) -> None:
    names = Counter(policy.name for policy in policies)
    if not names:
        raise ConfigurationError("there are no policies to replay; give at least one")
    if repeated := [name for name, count in names.items() if count > 1]:
        raise ConfigurationError(f"two policies have the name {repeated[0]!r}; give each its own")


def _describe(
    name: str, model: AttemptModel, outcome: Outcome, quantities: Sequence[tuple[float, Interval]]
) -> Replayed:
    success, attempts, tokens, cost_usd, seconds = (_to_predicted(*quantity) for quantity in quantities)
    return Replayed(
        policy=name,
        runs=len(outcome.values),
        exact_runs=int(outcome.exact.sum()),
        unseen=frozenset(each for each in outcome.strategies if not model.is_recorded(each)),
        success=success,
        attempts=attempts,
        tokens=tokens,
        cost_usd=cost_usd,
        seconds=seconds,
        by_run=outcome.values[:, 0],
        resources_by_run=outcome.values[:, 1:],
    )


def _to_predicted(value: float, interval: Interval) -> Predicted:
    """Returns a quantity; without value if a run has an unknown one."""
    return Predicted(None, None) if math.isnan(value) else Predicted(value, interval)
