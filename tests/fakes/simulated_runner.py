"""A runner of tasks that needs no model: each task has fixed luck, which all policies share."""

from __future__ import annotations

import random
from dataclasses import replace

from orchestrator.retry.attempts import FIRST, Attempt
from orchestrator.retry.decision import decide
from orchestrator.tuning.replay import RecordedRun, RecordedStep
from orchestrator.tuning.study_tasks import name_task
from orchestrator.tuning.trials import MeasuredRun


class SimulatedRunner:
    """Runs tasks by chance. The n-th attempt of a task by a strategy is the same under every policy.

    Attributes:
        calls: The runs that were made, as (candidate, task).
    """

    def __init__(self, chances: dict[str, float], fail_after: int | None = None) -> None:
        self.chances = chances
        self.calls: list[tuple[str, str]] = []
        self.fail_after = fail_after

    def run(self, case, candidate, repeat) -> MeasuredRun:
        """Runs a task under a candidate; raises KeyboardInterrupt after ``fail_after`` runs."""
        if self.fail_after is not None and len(self.calls) >= self.fail_after:
            raise KeyboardInterrupt
        self.calls.append((candidate.name, name_task(case)))
        attempts = [self._attempt(f"{case.task}{repeat}", FIRST, 0)]
        while (decision := decide(candidate.policy, attempts)).is_retry:
            attempt = self._attempt(f"{case.task}{repeat}", decision.use, len(attempts))
            attempts.append(replace(attempt, rule=decision.position))
        count = len(attempts)
        run = RecordedRun(name_task(case), (RecordedStep(tuple(attempts)),))
        passed = attempts[-1].outcome == "validated"
        return MeasuredRun(
            passed, count, 100 * count, None, float(count), count, count, float(count), 0.0, run
        )

    def _attempt(self, task: str, strategy: str, number: int) -> Attempt:
        passed = random.Random(f"{task} {strategy} {number}").random() < self.chances[strategy]
        return Attempt(
            number=number + 1,
            strategy=strategy,
            outcome="validated" if passed else "failed",
            kinds=() if passed else ("content",),
            output=f"{task} {strategy} {number}",
            tokens=100,
            seconds=1.0,
        )
