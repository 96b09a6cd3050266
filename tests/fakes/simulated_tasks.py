"""A simulated model: each task has its own chance to pass, by strategy and by the kind of its failure."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from orchestrator.retry.attempts import FIRST, Attempt
from orchestrator.tuning.replay.attempts import RecordedRun, RecordedStep, failure_kind, has_passed

KINDS = ("format", "content")


@dataclass(frozen=True)
class Schedule:
    """A policy with a fixed strategy after each failure; ``only`` limits it to some kinds of failure."""

    strategies: tuple[str, ...]
    name: str = "schedule"
    only: frozenset[str] = frozenset(KINDS)

    def next_strategy(self, attempts: Sequence[Attempt]) -> str | None:
        """The strategy of this place, if the failure is of an accepted kind."""
        made = len(attempts) - 1
        is_over = made >= len(self.strategies) or failure_kind(attempts[-1]) not in self.only
        return None if is_over else self.strategies[made]


def retries(count: int, strategy: str = "feedback", **options) -> Schedule:
    """A policy of plain retries by one strategy."""
    return Schedule((strategy,) * count, **{"name": f"{count} times {strategy}", **options})


class SimulatedTasks:
    """Tasks whose chances are drawn from beta distributions; strategies differ in the mean of theirs."""

    def __init__(self, count: int, seed: int, steps: int = 1) -> None:
        self.source = random.Random(seed)
        self.names = [f"task {number}" for number in range(count)]
        self.steps = steps
        self.chances = {(name, at): self._draw_chances() for name in self.names for at in range(steps)}

    def _draw_chances(self):
        means = {
            (FIRST, ""): 0.3,
            ("feedback", "format"): 0.5,
            ("feedback", "content"): 0.15,
            ("resample", "format"): 0.3,
            ("resample", "content"): 0.25,
        }
        return {cell: self.source.betavariate(2.0 * mean, 2.0 * (1.0 - mean)) for cell, mean in means.items()}

    def run(self, policy, name: str) -> RecordedRun:
        """Runs a policy on a task for real, as far as a simulation can."""
        steps: list[RecordedStep] = []
        for place in range(self.steps):
            attempts = [self._attempt(name, place, FIRST, "")]
            while not has_passed(attempts[-1]) and (strategy := policy.next_strategy(attempts)) is not None:
                attempts.append(self._attempt(name, place, strategy, failure_kind(attempts[-1])))
            steps.append(RecordedStep(tuple(attempts)))
            if not has_passed(attempts[-1]):
                break
        return RecordedRun(name, tuple(steps), self.steps)

    def run_all(self, policy) -> list[RecordedRun]:
        """Runs a policy once on each task."""
        return [self.run(policy, name) for name in self.names]

    def _attempt(self, name: str, place: int, strategy: str, kind: str) -> Attempt:
        passed = self.source.random() < self.chances[name, place][strategy, kind]
        # A format slip is corrected more often into a wrong content than the other way round.
        weights = (0.6, 0.4) if kind == "format" else (0.3, 0.7)
        kinds = () if passed else (self.source.choices(KINDS, weights)[0],)
        tokens = self.source.randint(80, 120) * (3 if strategy == "feedback" else 1)
        return Attempt(
            number=1,
            strategy=strategy,
            outcome="validated" if passed else "failed",
            kinds=kinds,
            output=f"{self.source.random()}",
            tokens=tokens,
            cost_usd=tokens / 1e6,
            seconds=tokens / 50,
        )


def success_rate(runs: Sequence[RecordedRun]) -> float:
    """The share of runs whose planned steps all passed."""
    return sum(is_success(run) for run in runs) / len(runs)


def is_success(run: RecordedRun) -> bool:
    """Whether all planned steps passed."""
    return all(has_passed(step.attempts[-1]) for step in run.steps) and not run.missing_steps
