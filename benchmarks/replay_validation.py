"""Validates replay: runs each policy for real in simulated worlds, and compares with what replay predicted.

    uv run python -m benchmarks.replay_validation [WORLDS] [TASKS] [PLOT.svg]

Each world has tasks of its own. Runs of one recorded policy are replayed under eight policies; each is
then run anew on the same tasks, and on as many other tasks. Of 50 worlds, a share of 95 % comes out between
88 and 100 % by chance; of 200, between 92 and 98 %.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from evaluation.statistics.intervals import proportion
from orchestrator.retry.attempts import Attempt
from orchestrator.tuning.replay.attempts import RecordedRun
from orchestrator.tuning.replay.replaying import Replayed, replay
from tests.fakes.simulated_tasks import Schedule, SimulatedTasks, retries, success_rate

Trials = dict[str, list["Trial"]]

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


def validate(recorded_by: object, worlds: int, tasks: int, steps: int = 1) -> Trials:
    trials: Trials = {policy.name: [] for policy in POLICIES}
    for seed in range(worlds):
        world, other = SimulatedTasks(tasks, seed, steps), SimulatedTasks(tasks, seed + 1000, steps)
        recorded: list[RecordedRun] = world.run_all(recorded_by)
        for policy, predicted in zip(POLICIES, replay(recorded, POLICIES, seed), strict=True):
            rates = (success_rate(each.run_all(policy)) for each in (world, other))
            trials[policy.name].append(Trial(predicted, *rates))
    return trials


def print_table(title: str, trials: Trials) -> None:
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


def group_by_tenth(trials: Trials) -> Iterator[list[Trial]]:
    """The validations whose predicted rate is in the same tenth."""
    every = [trial for each in trials.values() for trial in each]
    for tenth in range(10):
        inside = [t for t in every if tenth / 10 <= t.predicted.success.value < (tenth + 1) / 10]
        if inside:
            yield inside


def print_calibration(trials: Trials) -> None:
    print("\nCalibration: mean measured rate of the validations, by predicted rate\n")
    print("| validations | predicted mean | measured mean |\n|---|---|---|")
    for inside in group_by_tenth(trials):
        predicted, measured = average(inside)
        print(f"| {len(inside)} | {predicted:.3f} | {measured:.3f} |")


def average(trials: Sequence[Trial]) -> tuple[float, float]:
    """The mean predicted and the mean measured rate."""
    return fmean(t.predicted.success.value for t in trials), fmean(t.same for t in trials)


def draw(validated: Mapping[str, Trials], path: str) -> None:
    """Draws the measured rate against the predicted one, and the share of the intervals that contain it."""
    figure = Figure(figsize=(9, 3.6), layout="constrained")
    rates, shares = figure.subplots(1, 2)
    rates.plot([0, 1], [0, 1], color="C7", linewidth=1)
    shares.axvline(0.95, color="C7", linewidth=1)
    shares.axvline(0.9, color="C7", linewidth=1, linestyle=":")
    for place, (title, trials) in enumerate(validated.items()):
        means = [average(list(each)) for each in trials.values()]
        rates.plot(*zip(*means, strict=True), "o", markersize=4, color=f"C{place}", label=title)
        draw_shares(shares, trials, place)
    rates.set(xlabel="predicted success rate", ylabel="measured success rate", xlim=(0, 1), ylim=(0, 1))
    rates.legend(fontsize=7)
    names = list(next(iter(validated.values())))
    shares.set_yticks(range(len(names)), names, fontsize=7)
    shares.set(xlabel="share of the worlds whose rate is in the interval", xlim=(0.8, 1.005))
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "replay"}):
        figure.savefig(path, metadata={"Date": None})


def draw_shares(shares: Axes, trials: Trials, place: int) -> None:
    for row, each in enumerate(trials.values()):
        share = proportion(sum(t.contains(t.same) for t in each), len(each))
        low, high = share.interval
        bounds = [[share.value - low], [high - share.value]]
        y = row + (place - 1) * 0.2
        shares.errorbar(share.value, y, xerr=bounds, fmt="o", markersize=3, linewidth=1, color=f"C{place}")


def main(worlds: int = 50, tasks: int = 100, plot: str = "") -> None:
    validated = {
        "both strategies recorded": validate(Alternating(), worlds, tasks),
        "feedback alone recorded": validate(retries(3), worlds, tasks),
        "three steps a task": validate(Alternating(), worlds, tasks, 3),
    }
    for title, trials in validated.items():
        print_table(f"{worlds} worlds of {tasks} tasks: {title}", trials)
        print_calibration(trials)
    if plot:
        draw(validated, plot)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3]), *sys.argv[3:])
