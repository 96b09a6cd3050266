"""Recorded runs as arrays: the attempts of every step, and the steps that no policy can tell apart."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from orchestrator.errors import ConfigurationError
from orchestrator.retry.attempts import Attempt
from orchestrator.state.plain_values import format_repr
from orchestrator.tuning.replay.attempts import RecordedRun, RecordedStep

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
Weights: TypeAlias = NDArray[np.float32]

RESOURCES: Final = ("attempts", "tokens", "cost_usd", "seconds")
_NO_SCORE: Final = -1
_SCORE_STEPS: Final = 100
"""Scores are told apart in hundredths."""


@dataclass(frozen=True, slots=True)
class Table:
    """Recorded runs as arrays, with S steps, R runs, T tasks and G groups of equal histories.

    Attributes:
        histories: The attempts of one step of each group.
        group_of: Group of each step, [S].
        run_of: Run of each step, [S].
        task_of: Task of each run, [R].
        missing: Planned steps that each run did not reach, [R].
        position: Place of each step in its run, [S].
        item_of: Number of each step's task and position together, [S].
        totals: Resources of the first k attempts of each step, [S, A + 1, 4], in the order of ``RESOURCES``.
        tasks: Names of the tasks, [T].
    """

    histories: Sequence[tuple[Attempt, ...]]
    group_of: Ints
    run_of: Ints
    task_of: Ints
    missing: Ints
    position: Ints
    item_of: Ints
    totals: Floats
    tasks: Sequence[str]

    @property
    def runs(self) -> int:
        """Number of runs."""
        return len(self.task_of)


def build_table(runs: Sequence[RecordedRun]) -> Table:
    """Converts runs to arrays.

    Raises:
        ConfigurationError: There is no run, or one has a step without attempts.
    """
    steps = [(index, place, step) for index, run in enumerate(runs) for place, step in enumerate(run.steps)]
    _check_runs(runs, steps)
    tasks = sorted({run.task for run in runs})
    number = {task: index for index, task in enumerate(tasks)}
    groups: dict[tuple[object, ...], int] = {}
    group_of = [groups.setdefault(_describe_history(step), len(groups)) for _, _, step in steps]
    histories: list[tuple[Attempt, ...]] = [()] * len(groups)
    for group, (_, _, step) in zip(group_of, steps, strict=True):
        histories[group] = step.attempts
    run_of, task_of = np.array([run for run, _, _ in steps]), np.array([number[run.task] for run in runs])
    position = np.array([place for _, place, _ in steps])
    return Table(
        histories,
        np.array(group_of),
        run_of,
        task_of,
        np.array([run.missing_steps for run in runs]),
        position,
        np.unique(task_of[run_of] * (position.max() + 1) + position, return_inverse=True)[1],
        _sum_resources([step for _, _, step in steps]),
        tasks,
    )


def _check_runs(runs: Sequence[RecordedRun], steps: Sequence[tuple[int, int, RecordedStep]]) -> None:
    if not runs:
        raise ConfigurationError("there are no recorded runs to replay; run the tasks once, with a store")
    for index, run in enumerate(runs):
        if not run.steps:
            raise ConfigurationError(
                f"run {index + 1} of {len(runs)} (task {format_repr(run.task, 60)}) has no executed step; "
                "leave it out"
            )
    for index, place, step in steps:
        if not step.attempts:
            raise ConfigurationError(f"step {place + 1} of run {index + 1} has no attempt; leave the run out")


def _describe_history(step: RecordedStep) -> tuple[object, ...]:
    """Returns everything that a policy can see of a step, in a form that equal steps share."""
    outputs: dict[str, int] = {}
    described: list[object] = []
    for attempt in step.attempts:
        # Only which outputs are equal matters, not what they are.
        output = outputs.setdefault(attempt.output, len(outputs)) if attempt.output else -1
        score = _NO_SCORE if attempt.score is None else round(attempt.score * _SCORE_STEPS)
        described.append((
            attempt.strategy, attempt.outcome, attempt.kinds, score, output,
            attempt.corrected, attempt.raised, attempt.tool_calls, attempt.model,
        ))  # fmt: skip
    return tuple(described)


def _sum_resources(steps: Sequence[RecordedStep]) -> Floats:
    longest = max(len(step.attempts) for step in steps)
    used = np.zeros((len(steps), longest + 1, len(RESOURCES)))
    for index, step in enumerate(steps):
        for place, attempt in enumerate(step.attempts, 1):
            used[index, place] = read_resources(attempt)
    return used.cumsum(axis=1)


def read_resources(attempt: Attempt) -> tuple[float, float, float, float]:
    """Returns the resources of one attempt in the order of ``RESOURCES``; NaN if unknown."""
    tokens = math.nan if attempt.tokens is None else attempt.tokens
    return 1.0, tokens, math.nan if attempt.cost_usd is None else attempt.cost_usd, attempt.seconds
