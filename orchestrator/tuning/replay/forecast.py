"""What a policy makes of one recorded step: read from its attempts as far as they go, else forecast."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, cast

import numpy as np

from orchestrator.errors import ConfigurationError
from orchestrator.judging.report import RefusalKind
from orchestrator.retry.attempts import Attempt, Outcome
from orchestrator.tuning.replay.attempt_model import AttemptModel, Cell, Evidence, find_cell
from orchestrator.tuning.replay.attempts import ReplayPolicy, has_passed
from orchestrator.tuning.replay.table import RESOURCES, Floats

_LONGEST: Final = 100
"""Attempts of one step after which a policy counts as endless."""
_FORECAST: Final = "forecast "
"""Begins the digest of an output that was not recorded."""


@dataclass(frozen=True, slots=True)
class Walk:
    """How far the recorded attempts of a step suffice for a policy.

    Attributes:
        used: Number of recorded attempts that the policy would have made, too.
        passed: Whether the last of them passed.
        strategy: How the policy goes on, which was not recorded; None if it ends.
    """

    used: int
    passed: bool
    strategy: str | None = None


def walk_recorded(policy: ReplayPolicy, history: Sequence[Attempt]) -> Walk:
    """Follows a policy along the recorded attempts of a step."""
    used = 1
    while not has_passed(history[used - 1]):
        strategy = policy.next_strategy(history[:used])
        if strategy is None or len(history) == used or history[used].strategy != strategy:
            return Walk(used, passed=False, strategy=strategy)
        used += 1
    return Walk(used, passed=True)


@dataclass(frozen=True, slots=True)
class Forecast:
    """What follows attempts that were not recorded, for E tasks and D draws.

    Attributes:
        success: Chance that the step passes, [E, D].
        resources: Expected further resources, [4, E, D], in the order of ``RESOURCES``.
    """

    success: Floats
    resources: Floats


def forecast(
    policy: ReplayPolicy,
    history: Sequence[Attempt],
    strategy: str,
    model: AttemptModel,
    evidence: Sequence[Mapping[Cell, Evidence]],
) -> Forecast:
    """Forecasts the rest of a step whose attempts so far all failed.

    A forecast attempt that fails has no score and an output of its own, so that rules on scores and on equal
    outputs do not end the step.

    Args:
        policy: Says what follows each failure.
        history: The attempts so far.
        strategy: How the policy goes on.
        model: The chances and the costs of attempts.
        evidence: For each of E tasks, its recorded attempts by cell.

    Raises:
        ConfigurationError: The policy never ends.
    """
    if len(history) > _LONGEST:
        raise ConfigurationError(
            f"policy {policy.name!r} has not ended after {_LONGEST} attempts; give it a bound of retries"
        )
    cell = find_cell(strategy, history)
    success = _chance_to_pass(cell, history, model, evidence)
    failing, cost = 1.0 - success, model.cost(strategy)[:, None, None]
    resources = np.broadcast_to(cost, (len(RESOURCES), *success.shape))
    for kind, share in model.next_kinds(cell).items():
        longer = [*history, _build_failure(strategy, kind, len(history) + 1)]
        if (following := policy.next_strategy(longer)) is not None:
            rest = forecast(policy, longer, following, model, evidence)
            success = success + failing * share * rest.success
            resources = resources + failing * share * rest.resources
    return Forecast(success, resources)


def _build_failure(strategy: str, kind: str, number: int) -> Attempt:
    kinds = (cast("RefusalKind", kind),)
    outcome: Outcome = "needs_review" if kind == "unverified" else "failed"
    return Attempt(
        number=number, strategy=strategy, outcome=outcome, kinds=kinds, output=f"{_FORECAST}{number}"
    )


def _chance_to_pass(
    cell: Cell, history: Sequence[Attempt], model: AttemptModel, evidence: Sequence[Mapping[Cell, Evidence]]
) -> Floats:
    """Returns the chance of the next attempt, [E, D]."""
    counts = np.array([each.get(cell, (0, 0)) for each in evidence], dtype=float)
    # Recorded failures of this step are evidence already; forecast ones are not.
    forecasts = sum(
        after.output.startswith(_FORECAST) and find_cell(after.strategy, history[:made]) == cell
        for made, after in enumerate(history)
        if made
    )
    return model.chance(cell).after(counts[:, 0], counts[:, 1] + forecasts)
