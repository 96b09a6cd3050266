"""The finished runs of a study, and its budget: a run that finished is never repeated."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final, TypeAlias

from pydantic import ConfigDict, TypeAdapter, with_config
from typing_extensions import TypedDict

from evaluation.evalset.task_case import TaskCase
from orchestrator.errors import ConfigurationError, OrchestratorError
from orchestrator.persistence.sqlite_locks import FileLocks
from orchestrator.tuning.candidates import Candidate, digest_value
from orchestrator.tuning.replay import RecordedRun
from orchestrator.tuning.study_tasks import name_task
from orchestrator.tuning.trials import MeasuredRun, TaskRunner
from orchestrator.tuning.tune_spec import SearchBudget, TuneSpec

_Key: TypeAlias = tuple[str, str, int, str]
"""Digest of policy, models and prices; name of the task; number of the run; digest of the task."""
_FILE: Final = "runs.jsonl"


@with_config(ConfigDict(strict=True, allow_inf_nan=False))
class _Line(TypedDict):
    """A line of the file."""

    key: _Key
    run: MeasuredRun


_READER: Final = TypeAdapter(_Line)


class BudgetSpentError(OrchestratorError):
    """The budget of a search is spent; everything that it has found is kept."""


@contextmanager
def open_study(spec: TuneSpec, folder: Path) -> Iterator[Path]:
    """Makes the folder of a study, or opens it, and locks it until the block or the process ends.

    Raises:
        ConfigurationError: Another process has the study open, or the folder cannot be written.
        StoreError: The folder is on a file system without locks.
    """
    home = folder / spec.name
    try:
        home.mkdir(parents=True, exist_ok=True)
        (home / _FILE).touch()
    except OSError as error:
        raise ConfigurationError(
            f"the folder {str(home)!r} of the study cannot be written ({error.strerror}); give another folder"
        ) from None
    locks = FileLocks(home / _FILE)
    if not locks.acquire(spec.name, wait=False):
        raise ConfigurationError(
            f"the study {spec.name!r} in {str(folder)!r} is in use by another process; "
            "wait until it has ended, or give another name"
        )
    try:
        yield home
    finally:
        locks.release(spec.name)


class RunLog:
    """The finished runs of a study, one in each line of a file. Only the holder of the lock adds runs.

    Args:
        home: The folder of the study.
        budget: Bounds of what the runs may spend.
        identity: What decides a run besides its task and its policy: the models, the prices. A run that was
            measured with another identity is not found, so that it is never used in place of another.

    Raises:
        ConfigurationError: A line of the file is broken.
    """

    def __init__(self, home: Path, budget: SearchBudget, identity: str = "") -> None:
        self._path, self._budget, self._identity = home / _FILE, budget, identity
        content = self._path.read_bytes() if self._path.exists() else b""
        # A kill may have cut the last line off; that run had not finished.
        self._length = content.rfind(b"\n") + 1
        self._runs = dict(_read_lines(self._path, content[: self._length]))

    def measure(self, runner: TaskRunner, case: TaskCase, candidate: Candidate, repeat: int) -> MeasuredRun:
        """Returns the run of a task under a candidate; runs it unless it is in the file.

        Raises:
            BudgetSpentError: It is not in the file, and the budget does not allow another run.
        """
        measured = digest_value([candidate.digest, self._identity])
        key = (measured, name_task(case), repeat, _digest_case(case))
        if key not in self._runs:
            self._check_budget()
            run = runner.run(case, candidate, repeat)
            self._add(_Line(key=key, run=run))
            self._runs[key] = run
        return self._runs[key]

    def find_runs(self, cases: Mapping[str, TaskCase]) -> list[RecordedRun]:
        """Returns the attempts of all runs of these tasks, as they are now."""
        known = {(name, _digest_case(case)) for name, case in cases.items()}
        return [run.run for (_, name, _, task), run in self._runs.items() if (name, task) in known]

    def _add(self, line: _Line) -> None:
        with self._path.open("ab") as file:
            # Only here, under the lock: a reader must not cut off a line that another process is writing.
            os.ftruncate(file.fileno(), self._length)
            self._length += file.write(_READER.dump_json(line) + b"\n")

    def _check_budget(self) -> None:
        budget, runs = self._budget, self._runs.values()
        for name, bound, spent in (
            ("model_calls", budget.model_calls, sum(run.spent_calls for run in runs)),
            ("seconds", budget.seconds, sum(run.spent_seconds for run in runs)),
            ("cost_usd", budget.cost_usd, sum(run.spent_usd for run in runs)),
        ):
            if bound is not None and spent >= bound:
                raise BudgetSpentError(f"the budget of {bound:g} {name} is spent")


def _digest_case(case: TaskCase) -> str:
    # Without defaults: a new field of contracts does not change the tasks that have none of it.
    return digest_value(case.model_dump(mode="json", include={"task", "contract"}, exclude_defaults=True))


def _read_lines(path: Path, content: bytes) -> Iterator[tuple[_Key, MeasuredRun]]:
    for number, line in enumerate(content.splitlines(), 1):
        try:
            values = _READER.validate_json(line)
            yield values["key"], values["run"]
        except ValueError as error:
            raise ConfigurationError(
                f"{str(path)!r} has a broken line {number}; delete the line, or the folder"
            ) from error
