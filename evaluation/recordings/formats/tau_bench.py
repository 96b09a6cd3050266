"""Results of tau-bench: ``task_id``, ``trial``, ``reward`` and ``traj``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from evaluation.importers.imported_message import UnknownFormatError, read_list, read_run_error
from evaluation.recordings.recorded_run import RecordedRun, list_ignored, read_message_run
from evaluation.values import JsonObject

_READ: Final = frozenset({"task_id", "trial", "reward", "traj", "error"})


class TauBenchFormat:
    """A run of a task, with the reward that the benchmark gave it."""

    name = "tau-bench result"

    def recognises(self, value: object) -> bool:
        """Returns whether the value is a result."""
        return isinstance(value, dict) and {"task_id", "reward", "traj"} <= value.keys()

    def read(self, value: JsonObject) -> Iterator[RecordedRun]:
        """Yields the run; raises as ``run_from_messages`` does."""
        run = read_message_run(
            read_list(value, "traj", "the result"),
            f"task {value['task_id']}",
            read_run_error(value),
            warnings=list_ignored(value, _READ, "the result"),
            failed=lambda answer: answer.startswith("Error"),
        )
        trial, reward = value.get("trial"), value["reward"]
        if not isinstance(trial, int | None) or not isinstance(reward, int | float | None):
            raise UnknownFormatError("the result has a trial or a reward that is no number")
        yield replace(run, trial=trial or 0, score=reward)
