"""Runs of tasks under candidates, kept in the study's folder: a run that finished is never repeated."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Final, NamedTuple, Protocol

from pydantic import TypeAdapter

from evaluation.evalset.task_case import TaskCase
from evaluation.task_checks import derive_checks
from orchestrator.errors import ConfigurationError, OrchestratorError
from orchestrator.state.plain_values import format_repr
from orchestrator.tuning.candidates import Candidate
from orchestrator.tuning.replay.attempts import RecordedRun
from orchestrator.tuning.spec import Quantity, SearchBudget
from orchestrator.tuning.trials import Values


@dataclass(frozen=True, slots=True)
class MeasuredRun:
    """One run of a task under a candidate.

    Attributes:
        success: Whether every step was accepted, none as the best of several refused ones.
        model_calls: Calls of models; also those that recorded replies answered.
        tokens: Tokens of these calls; None if a model did not report them.
        cost_usd: Their cost; None without prices.
        seconds: Time of these calls, recorded ones as they once took.
        attempts: Executions of steps.
        spent_calls: Calls that a model answered now.
        spent_seconds: Time that the run took now.
        spent_usd: Cost of the run if a model answered any of its calls, an upper bound; else 0.
        run: Its attempts, for replay.
    """

    success: bool
    model_calls: int
    tokens: int | None
    cost_usd: float | None
    seconds: float
    attempts: int
    spent_calls: int
    spent_seconds: float
    spent_usd: float
    run: RecordedRun

    @property
    def values(self) -> Values:
        """The known quantities of the run."""
        known: dict[Quantity, float | None] = {
            "success": float(self.success),
            "attempts": self.attempts,
            "model_calls": self.model_calls,
            "tokens": self.tokens,
            "cost_usd": self.cost_usd,
            "seconds": self.seconds,
        }
        return {name: float(value) for name, value in known.items() if value is not None}


class TaskRunner(Protocol):
    """Runs a task for real."""

    def run(self, case: TaskCase, candidate: Candidate, repeat: int) -> MeasuredRun:
        """Runs a task once under a candidate.

        Args:
            case: The task.
            candidate: The policy and its model.
            repeat: Number of the run, from 0; each has seeds of its own, which all candidates share.
        """
        ...


_Key = tuple[str, str, int]
_READER: Final = TypeAdapter(MeasuredRun)


class Spent(NamedTuple):
    """Calls of models, seconds on the clock, and US dollars."""

    calls: int
    seconds: float
    usd: float


_NOTHING: Final = Spent(0, 0.0, 0.0)


def _add_spent(runs: Iterable[MeasuredRun], before: Spent = _NOTHING) -> Spent:
    calls, seconds, usd = before
    for run in runs:
        calls, seconds, usd = calls + run.spent_calls, seconds + run.spent_seconds, usd + run.spent_usd
    return Spent(calls, seconds, usd)


class BudgetSpentError(OrchestratorError):
    """The budget of a search is spent; everything that it has found is kept."""


class RunLog:
    """The finished runs of a study, one in each line of a file."""

    def __init__(self, path: Path, budget: SearchBudget) -> None:
        self._path, self._budget = path, budget
        self._runs = dict(self._read()) if path.exists() else {}
        self._spent = _add_spent(self._runs.values())

    def measure(self, runner: TaskRunner, case: TaskCase, candidate: Candidate, repeat: int) -> MeasuredRun:
        """Returns the run of a task under a candidate; runs it unless it is in the file.

        Raises:
            BudgetSpentError: It is not in the file, and the budget does not allow another run.
        """
        key = (candidate.digest, name_task(case), repeat)
        if key not in self._runs:
            self._check_budget()
            run = runner.run(case, candidate, repeat)
            with self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps({"key": key, "run": _READER.dump_python(run, mode="json")}) + "\n")
            self._runs[key] = run
            self._spent = _add_spent([run], self._spent)
        return self._runs[key]

    @property
    def recorded_runs(self) -> list[RecordedRun]:
        """The attempts of the runs of all candidates."""
        return [run.run for run in self._runs.values()]

    def find_runs(self, candidate: Candidate) -> list[RecordedRun]:
        """Returns the attempts of all runs of a candidate."""
        return [run.run for (digest, _, _), run in self._runs.items() if digest == candidate.digest]

    def _check_budget(self) -> None:
        spent = self._spent
        for name, bound, used in (
            ("model_calls", self._budget.model_calls, spent.calls),
            ("seconds", self._budget.seconds, spent.seconds),
            ("cost_usd", self._budget.cost_usd, spent.usd),
        ):
            if bound is not None and used >= bound:
                raise BudgetSpentError(f"the budget of {bound:g} {name} is spent")

    def _read(self) -> Iterator[tuple[_Key, MeasuredRun]]:
        text = self._path.read_text(encoding="utf-8")
        if text and not text.endswith("\n"):
            # A kill cut the last line off; that run had not finished.
            text = text[: text.rfind("\n") + 1]
            self._path.write_text(text, encoding="utf-8")
        for number, line in enumerate(text.splitlines(), 1):
            try:
                digest, task, repeat = (values := json.loads(line))["key"]
                yield (digest, task, repeat), _READER.validate_python(values["run"])
            except (ValueError, KeyError, TypeError) as error:
                raise ConfigurationError(
                    f"{str(self._path)!r} has a broken line {number}; delete the line, or the folder"
                ) from error


def join_values(runs: Sequence[MeasuredRun]) -> Values:
    """Returns the mean of each quantity over the runs of a task that all report it."""
    every = [run.values for run in runs]
    names = set.intersection(*(set(values) for values in every))
    return {name: fmean(values[name] for values in every) for name in sorted(names)}


def name_task(case: TaskCase) -> str:
    """Returns the name of a case in results."""
    return case.name or case.task


def check_cases(cases: Sequence[TaskCase], check: Callable[[TaskCase], bool] | None = None) -> None:
    """Checks that every task has a check and a name of its own.

    Raises:
        ConfigurationError: A task has no check, or two have the same name.
    """
    unchecked = [name_task(case) for case in cases if not (check or has_checks)(case)]
    if unchecked:
        raise ConfigurationError(
            f"{len(unchecked)} of {len(cases)} tasks have nothing to check, and so nothing to tune by, "
            f"such as {format_repr(unchecked[0], 80)}; give them a contract, or leave them out"
        )
    names = Counter(name_task(case) for case in cases)
    if repeated := [name for name, count in names.items() if count > 1]:
        raise ConfigurationError(f"two tasks have the name {format_repr(repeated[0], 80)}; give each its own")


def has_checks(case: TaskCase) -> bool:
    """Returns whether the contract of a case, or its text, states a check."""
    if case.contract == "from_task":
        return bool(derive_checks(case.task).checks)
    return bool(case.contract.model_dump(exclude_defaults=True))
