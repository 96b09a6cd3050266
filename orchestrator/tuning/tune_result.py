"""The result of a search, and the split of its tasks."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from orchestrator.errors import ConfigurationError
from orchestrator.tuning.recommendation import Recommendation, recommend
from orchestrator.tuning.search import choose_best
from orchestrator.tuning.trials import Trial, find_front
from orchestrator.tuning.tune_spec import TuneSpec

Progress = Callable[[Sequence[Trial]], None]
FEWEST_TASKS: Final = 2


@dataclass(frozen=True, slots=True)
class TuneResult:
    """The result of a search.

    Attributes:
        spec: The specification.
        trials: Every policy tried, the default first.
        front: Those that no other beats in success and cost at once.
        recommendation: The policy to use, and what it rests on.
        stopped: Why the search ended early; None if it did not.
    """

    spec: TuneSpec
    trials: Sequence[Trial]
    front: Sequence[Trial]
    recommendation: Recommendation
    stopped: str | None

    @property
    def policy_yaml(self) -> str:
        """The recommended policy, as ``RetryPolicy.from_yaml`` reads it."""
        return self.recommendation.candidate.policy.to_yaml()


def build_result(
    spec: TuneSpec,
    trials: Sequence[Trial],
    held_out: tuple[Trial, Trial] | None,
    stopped: str | None,
) -> TuneResult:
    """Builds the result of a search, with its recommendation."""
    best = choose_best(trials, spec.objective)
    recommendation = recommend(trials[0], best, held_out, spec.objective)
    return TuneResult(spec, trials, find_front(trials, spec.objective), recommendation, stopped)


def split_tasks(tasks: Sequence[str], spec: TuneSpec) -> tuple[list[str], list[str]]:
    """Splits tasks into search tasks and held-out tasks, at random by the seed.

    Raises:
        ConfigurationError: There are too few for both.
    """
    if len(tasks) < FEWEST_TASKS:
        raise ConfigurationError(
            f"there is {len(tasks)} task; give at least {FEWEST_TASKS}, one to search on and one to hold out"
        )
    shuffled = random.Random(spec.seed).sample(list(tasks), len(tasks))  # noqa: S311 - no secret
    held_out = min(max(1, round(len(tasks) * spec.hold_out)), len(tasks) - 1)
    return shuffled[held_out:], shuffled[:held_out]
