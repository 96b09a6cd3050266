"""A runner of tasks that needs no model: each task has fixed luck, which all policies share."""

import random

from orchestrator.retry.policy import decide
from tests.fakes.records import followed_by, judged


class SimulatedRunner:
    """Runs tasks by chance. The n-th attempt of a task by a strategy is the same under every policy.

    Attributes:
        runs: The number of runs that were made.
    """

    def __init__(self, chances: dict[str, float]) -> None:
        self.chances, self.runs = chances, 0

    def __call__(self, case, policy):
        self.runs += 1
        attempts = [self._attempt(case.task, "first", 0)]
        while (decision := decide(policy, attempts)).rule is not None:
            attempts[-1] = followed_by(attempts[-1], decision.use, decision.position)
            attempts.append(self._attempt(case.task, decision.use, len(attempts)))
        status = "success" if attempts[-1]["status"] == "validated" else "failed"
        return {
            "status": status,
            "results": [],
            "synthesis": [],
            "usage": {"total_tokens": 100 * len(attempts)},
        }

    def _attempt(self, task, strategy, number):
        passed = random.Random(f"{task}0 {strategy} {number}").random() < self.chances[strategy]
        return judged("validated", (), attempt=number + 1) if passed else judged(attempt=number + 1)
