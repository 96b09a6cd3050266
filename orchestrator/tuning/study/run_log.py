"""The finished runs of a study, and its budget: a run that finished is never repeated."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias

from pydantic import ConfigDict, TypeAdapter, with_config
from typing_extensions import TypedDict

from evaluation.evalset.task_case import TaskCase
from orchestrator.errors import ConfigurationError, OrchestratorError
from orchestrator.tuning.candidates import Candidate
from orchestrator.tuning.measured_runs import MeasuredRun, TaskRunner, name_task
from orchestrator.tuning.replay.attempts import RecordedRun
from orchestrator.tuning.spec import SearchBudget
from orchestrator.tuning.study.identities import digest_case

_Key: TypeAlias = tuple[str, str, int, str]
"""Digest of the candidate, name of the task, number of the run, and digest of the task with its contract."""
_LARGEST: Final = 2**63


@with_config(ConfigDict(strict=True, allow_inf_nan=False))
class _Line(TypedDict):
    """A line of the file."""

    key: _Key
    run: MeasuredRun


_READER: Final = TypeAdapter(_Line)


class _Spent(NamedTuple):
    """Calls of models, seconds on the clock, and US dollars."""

    calls: int
    seconds: float
    usd: float


_NOTHING: Final = _Spent(0, 0.0, 0.0)


def _add_spent(runs: Iterable[MeasuredRun], before: _Spent = _NOTHING) -> _Spent:
    calls, seconds, usd = before
    for run in runs:
        calls, seconds, usd = calls + run.spent_calls, seconds + run.spent_seconds, usd + run.spent_usd
    return _Spent(calls, seconds, usd)


class BudgetSpentError(OrchestratorError):
    """The budget of a search is spent; everything that it has found is kept."""


class RunLog:
    """The finished runs of a study, one in each line of a file. Whoever adds runs holds the study's lock.

    Raises:
        ConfigurationError: A line of the file is broken.
    """

    def __init__(self, path: Path, budget: SearchBudget) -> None:
        self._path, self._budget = path, budget
        self._runs, self._length = _read_runs(path)
        self._spent = _add_spent(self._runs.values())

    def measure(self, runner: TaskRunner, case: TaskCase, candidate: Candidate, repeat: int) -> MeasuredRun:
        """Returns the run of a task under a candidate; runs it unless it is in the file.

        Raises:
            BudgetSpentError: It is not in the file, and the budget does not allow another run.
        """
        key = (candidate.digest, name_task(case), repeat, digest_case(case))
        if key not in self._runs:
            self._check_budget()
            run = runner.run(case, candidate, repeat)
            self._add(key, run)
            self._runs[key] = run
            self._spent = _add_spent([run], self._spent)
        return self._runs[key]

    def find_runs(self, cases: Sequence[TaskCase], candidate: Candidate | None = None) -> list[RecordedRun]:
        """Returns the attempts of the runs of these tasks, as they are now, under one or all candidates."""
        known = {(name_task(case), digest_case(case)) for case in cases}
        return [
            run.run
            for (digest, name, _, task), run in self._runs.items()
            if (name, task) in known and (candidate is None or digest == candidate.digest)
        ]

    def _add(self, key: _Key, run: MeasuredRun) -> None:
        line = _READER.dump_json(_Line(key=key, run=run)) + b"\n"
        with self._path.open("ab") as file:
            # Only here, under the lock: a reader must not cut off a line that another process is writing.
            if file.tell() > self._length:
                os.ftruncate(file.fileno(), self._length)
            self._length += file.write(line)

    def _check_budget(self) -> None:
        spent = self._spent
        for name, bound, used in (
            ("model_calls", self._budget.model_calls, spent.calls),
            ("seconds", self._budget.seconds, spent.seconds),
            ("cost_usd", self._budget.cost_usd, spent.usd),
        ):
            if bound is not None and used >= bound:
                raise BudgetSpentError(f"the budget of {bound:g} {name} is spent")


def _read_runs(path: Path) -> tuple[dict[_Key, MeasuredRun], int]:
    """Returns the finished runs, and the number of bytes that they take.

    A kill may have cut the last line off; that run had not finished.
    """
    if not path.exists():
        return {}, 0
    content = path.read_bytes()
    length = content.rfind(b"\n") + 1
    return dict(_read_lines(path, content[:length])), length


def _read_lines(path: Path, content: bytes) -> Iterator[tuple[_Key, MeasuredRun]]:
    for number, line in enumerate(content.splitlines(), 1):
        try:
            values = _READER.validate_json(line)
            _check_amounts(values["run"])
            yield values["key"], values["run"]
        except (ValueError, OverflowError) as error:
            raise ConfigurationError(
                f"{str(path)!r} has a broken line {number}; delete the line, or the folder"
            ) from error


def _check_amounts(run: MeasuredRun) -> None:
    """Checks that no amount is one that nothing can have spent.

    Raises:
        ValueError: One is.
        OverflowError: One is too large for a number.
    """
    spent = (run.spent_calls, run.spent_seconds, run.spent_usd)
    attempts = (attempt.tokens or 0 for step in run.run.steps for attempt in step.attempts)
    if not all(0 <= amount < _LARGEST for amount in (*run.values.values(), *spent, *attempts)):
        raise ValueError("an amount is negative, or too large")
