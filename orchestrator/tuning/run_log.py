"""The finished runs of a study, and its budget: a run that finished is never repeated."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias

from pydantic import ConfigDict, TypeAdapter, with_config
from typing_extensions import TypedDict

from evaluation.evalset.task_case import TaskCase
from orchestrator.errors import ConfigurationError, OrchestratorError
from orchestrator.tuning.candidates import Candidate
from orchestrator.tuning.measured_runs import MeasuredRun, TaskRunner, name_task
from orchestrator.tuning.replay import RecordedRun
from orchestrator.tuning.tune_spec import SearchBudget, TuneSpec

# Windows has no fcntl; there, two processes are not kept apart.
_HAS_FCNTL: Final = find_spec("fcntl") is not None
if _HAS_FCNTL:
    import fcntl

_Key: TypeAlias = tuple[str, str, int, str]
"""Digest of the policy, the models and the prices; name of the task; number of the run; digest of it."""


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


def digest_values(*values: object) -> str:
    """Returns a short digest of plain values, equal in every process."""
    text = json.dumps(values, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _digest_case(case: TaskCase) -> str:
    # Without defaults: a new field of contracts does not change the tasks that have none of it.
    text = json.dumps(
        case.model_dump(mode="json", include={"task", "contract"}, exclude_defaults=True), sort_keys=True
    )
    return hashlib.sha256(text.encode()).hexdigest()[:16]


@contextmanager
def open_study(spec: TuneSpec, folder: Path) -> Iterator[Path]:
    """Makes the folder of a study, or opens it, and locks it until the block or the process ends.

    Raises:
        ConfigurationError: Another process has the study open, or the folder cannot be written.
    """
    home = folder / spec.name
    try:
        home.mkdir(parents=True, exist_ok=True)
        lock = (home / "study.lock").open("a")
    except OSError as error:
        raise ConfigurationError(
            f"the folder {str(home)!r} of the study cannot be written ({error.strerror}); give another folder"
        ) from None
    with lock:
        try:
            if _HAS_FCNTL:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ConfigurationError(
                f"the study {spec.name!r} in {str(folder)!r} is in use by another process; "
                "wait until it has ended, or give another name"
            ) from None
        yield home


class RunLog:
    """The finished runs of a study, one in each line of a file. Whoever adds runs holds the study's lock.

    Args:
        path: The file.
        budget: Bounds of what the runs may spend.
        identity: What decides a run besides its task and its policy: the models, the prices. A run that was
            measured with another identity is not found, so that it is never used in place of another.

    Raises:
        ConfigurationError: A line of the file is broken.
    """

    def __init__(self, path: Path, budget: SearchBudget, identity: str = "") -> None:
        self._path, self._budget, self._identity = path, budget, identity
        self._runs, self._length = _read_runs(path)
        self._spent = _add_spent(self._runs.values())

    def measure(self, runner: TaskRunner, case: TaskCase, candidate: Candidate, repeat: int) -> MeasuredRun:
        """Returns the run of a task under a candidate; runs it unless it is in the file.

        Raises:
            BudgetSpentError: It is not in the file, and the budget does not allow another run.
        """
        key = (digest_values(candidate.digest, self._identity), name_task(case), repeat, _digest_case(case))
        if key not in self._runs:
            self._check_budget()
            run = runner.run(case, candidate, repeat)
            self._add(key, run)
            self._runs[key] = run
            self._spent = _add_spent([run], self._spent)
        return self._runs[key]

    def find_runs(self, cases: Sequence[TaskCase]) -> list[RecordedRun]:
        """Returns the attempts of all runs of these tasks, as they are now."""
        known = {(name_task(case), _digest_case(case)) for case in cases}
        return [run.run for (_, name, _, task), run in self._runs.items() if (name, task) in known]

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
            yield values["key"], values["run"]
        except ValueError as error:
            raise ConfigurationError(
                f"{str(path)!r} has a broken line {number}; delete the line, or the folder"
            ) from error
