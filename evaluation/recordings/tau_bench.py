"""Results of tau-bench: the conversation, and its own reward."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from evaluation.inputs.messages import run_from_messages
from evaluation.recordings.recorded_run import RecordedRun
from evaluation.values import JsonObject, as_list

_ERROR: Final = "Error"
"""The answers of its tools begin with it if they failed."""


class TauBenchFormat:
    """A result: ``task_id``, ``trial``, ``reward`` and ``traj``."""

    name = "tau-bench result"

    def recognises(self, value: object) -> bool:
        """Returns whether the value is a result."""
        return isinstance(value, dict) and {"task_id", "reward", "traj"} <= value.keys()

    def read(self, value: JsonObject) -> Iterator[RecordedRun]:
        """Yields the run; raises as ``run_from_messages`` does."""
        run = run_from_messages(as_list(value["traj"]), failed=lambda answer: answer.startswith(_ERROR))
        name = f"task {value['task_id']}, trial {value.get('trial', 0)}"
        yield RecordedRun({"case_id": name, "agent_run": run})
