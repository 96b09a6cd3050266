"""Validates replay: runs each policy for real in simulated worlds, and compares with what replay predicted.

    uv run python -m benchmarks.replay_validation [WORLDS] [TASKS]

Each world has tasks of its own. Runs of one recorded policy are replayed under eight policies; each is
then run anew on the same tasks, and on as many other tasks.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from orchestrator.retry.attempts import Attempt
from orchestrator.tuning.replay.attempts import RecordedRun
from orchestrator.tuning.replay.replaying import Replayed, replay
from tests.fakes.simulated_tasks import Schedule, SimulatedTasks, retries, success_rate

POLICIES = [
    retries(0),
    retries(1),
    retries(2),
    retries(3),
    retries(5),
    retries(3, "resample"),
    Schedule(("feedback", "resample", "resample"), "feedback, then 2 times resample"),
    retries(3, only=frozenset({"format"}), name="3 times feedback after a format slip"),
]


@dataclass(frozen=True)
class Alternating:
    """Three retries, half of the runs by feedback and half by new samples: both strategies are recorded."""

    name: str = "alternating"

    def next_strategy(self, attempts: Sequence[Attempt]) -> str | None:
        """One strategy for all retries of a run."""
        if len(attempts) > 3:
            return None
        return "feedback" if len(attempts[0].output) % 2 else "resample"


@dataclass(frozen=True)
class Trial:
    """One policy in one world."""

    predicted: Replayed
    same: float
    other: float

    def contains(self, rate: float) -> bool:
        """Whether the predicted interval contains a rate."""
        low, high = self.predicted.success.interval
        return low <= rate <= high


def validate(recorded_by: object, worlds: int, tasks: int, steps: int = 1) -> dict[str, list[Trial]]:
    trials: dict[str, list[Trial]] = {policy.name: [] for policy in POLICIES}
    for seed in range(worlds):
        world, other = SimulatedTasks(tasks, seed, steps), SimulatedTasks(tasks, seed + 1000, steps)
        recorded: list[RecordedRun] = world.run_all(recorded_by)
        for policy, predicted in zip(POLICIES, replay(recorded, POLICIES, seed), strict=True):
            rates = (success_rate(each.run_all(policy)) for each in (world, other))
            trials[policy.name].append(Trial(predicted, *rates))
    return trials


def print_table(title: str, trials: dict[str, list[Trial]]) -> None:
    print(f"\n{title}\n")
    print("| policy | exact runs | predicted | measured | width | same tasks inside | other tasks inside |")
    print("|---|---|---|---|---|---|---|")
    for name, each in trials.items():
        widths = [t.predicted.success.interval.high - t.predicted.success.interval.low for t in each]
        cells = (
            f"{fmean(t.predicted.exact_runs / t.predicted.runs for t in each):.0%}",
            f"{fmean(t.predicted.success.value for t in each):.3f}",
            f"{fmean(t.same for t in each):.3f}",
            f"{fmean(widths):.2f}",
            f"{fmean(t.contains(t.same) for t in each):.0%}",
            f"{fmean(t.contains(t.other) for t in each):.0%}",
        )
        print(f"| {name} | {' | '.join(cells)} |")


def print_calibration(trials: dict[str, list[Trial]]) -> None:
    print("\nCalibration: mean measured rate of the validations, by predicted rate\n")
    print("| predicted | validations | predicted mean | measured mean |\n|---|---|---|---|")
    every = [trial for each in trials.values() for trial in each]
    for tenth in range(10):
        inside = [t for t in every if tenth / 10 <= t.predicted.success.value < (tenth + 1) / 10]
        if inside:
            predicted = fmean(t.predicted.success.value for t in inside)
            measured = fmean(t.same for t in inside)
            row = f"| {tenth / 10:.1f}-{tenth / 10 + 0.1:.1f} | {len(inside)} |"
            print(f"{row} {predicted:.3f} | {measured:.3f} |")


def main(worlds: int = 50, tasks: int = 100) -> None:
    mixed = validate(Alternating(), worlds, tasks)
    print_table(f"{worlds} worlds of {tasks} tasks; both strategies were recorded", mixed)
    print_calibration(mixed)
    plain = validate(retries(3), worlds, tasks)
    print_table("Only three retries by feedback were recorded: new samples are unseen", plain)
    print_table(
        "Three steps a task; both strategies were recorded", validate(Alternating(), worlds, tasks, 3)
    )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
