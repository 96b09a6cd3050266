"""Results of tau-bench: ``task_id``, ``trial``, ``reward`` and ``traj``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from evaluation.recordings.message_runs import read_message_run
from evaluation.recordings.recorded_run import RecordedRun, list_ignored
from evaluation.values import JsonObject, as_list

_READ: Final = frozenset({"task_id", "trial", "reward", "traj"})


class TauBenchFormat:
    """A run of a task, with the reward that the benchmark gave it."""

    name = "tau-bench result"

    def recognises(self, value: object) -> bool:
        """Returns whether the value is a result."""
        return isinstance(value, dict) and {"task_id", "reward", "traj"} <= value.keys()

    def read(self, value: JsonObject) -> Iterator[RecordedRun]:
        """Yields the run; raises as ``run_from_messages`` does."""
        run = read_message_run(
            as_list(value["traj"]),
            f"task {value['task_id']}",
            warnings=list_ignored(value, _READ, "the result"),
            failed=lambda answer: answer.startswith("Error"),
        )
        trial, reward = value.get("trial"), value["reward"]
        yield replace(
            run,
            trial=trial if isinstance(trial, int) else 0,
            score=reward if isinstance(reward, int | float) else None,
        )
