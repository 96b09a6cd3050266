"""Measures how far the figures of `orchestrator worth` hold: in worlds with known values, on recorded runs.

    uv run python -m benchmarks.worth
    uv run python -m benchmarks.worth FILE

FILE is a list of runs as tau-bench publishes them. Default: the first file in $EVALUATION_DATA/tau-bench;
without it, only the simulated worlds are measured.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

from benchmarks.tau_bench import find_runs
from evaluation import evaluate_many
from examples.tau_bench import make_case
from orchestrator.study.trial_outcomes import Terms, Trial, TriedAttempt
from orchestrator.study.worth import Worth, estimate_worth

WORLDS, TASKS, MOST, HALVES = 1000, 200, 4, 200
AT_MOST_WRONG = 0.1
CLEAR = 0.03
"""A difference of value that should be told."""


@dataclass(frozen=True)
class World:
    """A world with known values: half of its tasks are easy, and half are hard.

    Attributes:
        first: Chances that a first attempt is right, at easy and at hard tasks.
        corrected: Chance that the attempt after a wrong one is right, if attempts follow each other.
        spoiled: Chance that the attempt after a right one is wrong, if attempts follow each other.
        false_accepts: Chance that the verdict accepts a wrong attempt.
        false_rejects: Chance that it refuses a right one.
        in_sequence: Whether attempts follow each other; else they are independent of each other.
        terms: What an answer is worth.
    """

    first: tuple[float, float]
    corrected: float
    spoiled: float
    false_accepts: float
    false_rejects: float
    in_sequence: bool
    terms: Terms

    @classmethod
    def draw(cls, seed: int) -> World:
        """Draw a world."""
        rng = random.Random(seed)
        middle, spread = rng.uniform(0.2, 0.8), rng.uniform(0.0, 0.2)
        return cls(
            first=(middle + spread, middle - spread),
            corrected=rng.uniform(0.0, 0.5),
            spoiled=rng.uniform(0.0, 0.1),
            false_accepts=rng.uniform(0.0, 0.3),
            false_rejects=rng.uniform(0.0, 0.3),
            in_sequence=seed % 2 == 0,
            terms=Terms(loss=rng.uniform(0.0, 3.0), cost_per_attempt=rng.uniform(0.0, 0.1)),
        )

    def follow(self, first: float, is_right: bool) -> float:
        """Return the chance that the attempt after a right or a wrong one is right."""
        if not self.in_sequence:
            return first
        return 1.0 - self.spoiled if is_right else self.corrected

    def outcomes(self) -> list[tuple[float, float, float]]:
        """Return the true shares of right and wrong acceptances and the attempts for k = 1 to 4."""
        by_task = [self._follow_task(first) for first in self.first]
        return [tuple(map(fmean, zip(*each, strict=True))) for each in zip(*by_task, strict=True)]

    def _follow_task(self, first: float) -> Iterator[tuple[float, float, float]]:
        right = wrong = attempts = 0.0
        now = (first, 1.0 - first)
        for _ in range(MOST):
            attempts += sum(now)
            right += now[0] * (1.0 - self.false_rejects)
            wrong += now[1] * self.false_accepts
            yield right, wrong, attempts
            refused = (now[0] * self.false_rejects, now[1] * (1.0 - self.false_accepts))
            after = refused[0] * self.follow(first, True) + refused[1] * self.follow(first, False)
            now = (after, sum(refused) - after)

    def values(self) -> list[float]:
        """Return the true value for k = 1 to 4."""
        terms = self.terms
        return [
            terms.value * right - terms.loss * wrong - terms.cost_per_attempt * attempts
            for right, wrong, attempts in self.outcomes()
        ]

    def record(self, seed: int) -> list[Trial]:
        """Record the trials of all tasks."""
        rng = random.Random(seed)
        return [trial for task in range(TASKS) for trial in self._record_task(f"task {task}", rng)]

    def _record_task(self, task: str, rng: random.Random) -> Iterator[Trial]:
        first, made = rng.choice(self.first), []
        chance = first
        for _ in range(MOST):
            right = rng.random() < chance
            accepted = rng.random() < (1.0 - self.false_rejects if right else self.false_accepts)
            made.append(TriedAttempt(accepted, right))
            if accepted and self.in_sequence:
                break
            chance = self.follow(first, right)
        yield from [Trial(task, made)] if self.in_sequence else [Trial(task, [each]) for each in made]


class Measured(NamedTuple):
    """What one world shows."""

    covered: list[bool]
    difference: float
    sign: int
    """1 or -1 if the second attempt is told to pay or to be a loss, else 0."""
    regret: float
    is_told: bool
    violated: bool | None
    """Whether more acceptances are wrong than the guarantee says; None without one."""


def measure_world(seed: int) -> Measured:
    """Estimate the worth in one world, and compare it with what is true."""
    world = World.draw(seed)
    worth = estimate_worth(world.record(seed + 1_000_000), world.terms, at_most_wrong=AT_MOST_WRONG)
    values, estimates = world.values(), [point.value for point in worth.points]
    gain, chosen = worth.points[1].gain, worth.recommendation.attempts
    highest = max(worth.points, key=lambda point: point.value.value).k
    cells = worth.guarantee.cells
    right, wrong, _ = world.outcomes()[max((attempt for _, attempt in cells), default=1) - 1]
    return Measured(
        covered=[each.low <= value <= each.high for each, value in zip(estimates, values, strict=True)],
        difference=values[1] - values[0],
        sign=(gain.low > 0) - (gain.high < 0),
        regret=max(values) - values[(chosen or highest) - 1],
        is_told=chosen is not None,
        violated=wrong > AT_MOST_WRONG * (right + wrong) if cells else None,
    )


def share(flags: Sequence[bool]) -> str:
    return f"{100 * fmean(flags):.1f} % of {len(flags)}" if flags else "none"


def report_worlds() -> None:
    with ProcessPoolExecutor() as pool:
        worlds = [*pool.map(measure_world, range(WORLDS), chunksize=20)]
    print(f"{WORLDS} simulated worlds of {TASKS} tasks with {MOST} attempts\n")
    for k in range(MOST):
        print(f"value at k = {k + 1} in its interval: {share([w.covered[k] for w in worlds])}")
    decided = [world for world in worlds if world.sign]
    clear = [world for world in worlds if abs(world.difference) > CLEAR]
    told = [world for world in worlds if world.is_told]
    signs = [each.sign * each.difference > 0 for each in decided]
    print(f"the sign of a second attempt is right where it is told: {share(signs)}")
    print(f"it is told if the difference is above {CLEAR}: {share([w.sign != 0 for w in clear])}")
    print(f"a number of attempts is recommended: {share([w.is_told for w in worlds])}")
    print(f"what the recommended number costs a task: {fmean(w.regret for w in told):.4f}")
    print(f"with the highest estimate where nothing is told: {fmean(w.regret for w in worlds):.4f}")
    given = [world.violated for world in worlds if world.violated is not None]
    print(f"at most {AT_MOST_WRONG} wrong is given: {share([w.violated is not None for w in worlds])}")
    print(f"and violated: {share(given)}; of all worlds: {share([w.violated is True for w in worlds])}")


Runs = dict[str, list[TriedAttempt]]
"""The trials of each task."""


def read_recorded(file: Path) -> Runs:
    """Read the trials of a file of tau-bench, with our verdicts and its own rewards."""
    runs: list[dict[str, Any]] = json.loads(file.read_text(encoding="utf-8"))
    tasks: Runs = {}
    for run, report in zip(runs, evaluate_many(map(make_case, runs)), strict=True):
        accepted = report.status in {"passed", "warning"}
        tasks.setdefault(str(run["task_id"]), []).append(TriedAttempt(accepted, run["reward"] == 1.0))
    return tasks


def estimate(tasks: Runs) -> Worth:
    return estimate_worth(Trial(task, [each]) for task, attempts in tasks.items() for each in attempts)


def enumerate_orders(attempts: Sequence[TriedAttempt], k: int) -> tuple[float, float]:
    """Return the shares of all orders whose first acceptance within k attempts is right, and wrong."""
    orders = [*permutations(attempts)]
    ends = [next((each.right for each in order[:k] if each.accepted), None) for order in orders]
    return ends.count(True) / len(ends), ends.count(False) / len(ends)


def measure_halves(tasks: Runs) -> list[list[bool]]:
    """Return for each k whether the interval of a random half of the tasks has the value of the other."""
    rng, found = random.Random(1), []
    for _ in range(HALVES):
        names = rng.sample([*tasks], len(tasks))
        halves = names[: len(names) // 2], names[len(names) // 2 :]
        points = [estimate({name: tasks[name] for name in half}).points for half in halves]
        values = [[point.value for point in each] for each in points]
        found.append([one.low <= other.value <= one.high for one, other in zip(*values, strict=True)])
    return [*zip(*found, strict=True)]


def report_recorded(file: Path) -> None:
    tasks = read_recorded(file)
    print(f"\n{file.name}: {len(tasks)} tasks\n")
    columns = (
        "k",
        "pass@k",
        "pass^k",
        "right",
        "wrong",
        "right, enumerated",
        "wrong, enumerated",
        "other half",
    )
    print(f"| {' | '.join(columns)} |\n|{'---|' * len(columns)}")
    for point, halves in zip(estimate(tasks).points, measure_halves(tasks), strict=True):
        ends = [enumerate_orders(attempts, point.k) for attempts in tasks.values()]
        figures = [point.pass_at_k, point.pass_hat_k, point.right.value, point.wrong.value]
        figures += [fmean(each) for each in zip(*ends, strict=True)]
        cells = " | ".join(f"{figure:.4f}" for figure in figures)
        print(f"| {point.k} | {cells} | {share(halves)} |")
    print("\nother half: its value is in the interval of a half")


def main(arguments: Sequence[str]) -> None:
    file = Path(arguments[0]) if arguments else find_runs()
    report_worlds()
    if file is None:
        print("\nno recorded runs: give a file, or set EVALUATION_DATA to the folder above tau-bench")
        return
    report_recorded(file)


if __name__ == "__main__":
    main(sys.argv[1:])
