"""Our own files: cases with ``agent_run``, and states of runs."""

from __future__ import annotations

from collections.abc import Iterator

from evaluation.contract.run_state import run_from_state
from evaluation.recordings.recorded_run import RecordedRun
from evaluation.values import JsonObject


class CaseFormat:
    """A case: an object with ``agent_run`` and its contract."""

    name = "case with agent_run"

    def recognises(self, value: object) -> bool:
        """Returns whether the value is an object with ``agent_run``."""
        return isinstance(value, dict) and "agent_run" in value

    def read(self, value: JsonObject) -> Iterator[RecordedRun]:
        """Yields the case as it is."""
        yield RecordedRun(value)


class StateFormat:
    """The state of a run, or the document of ``orchestrator show THREAD --json`` around it."""

    name = "state of a run of plan-execute-monitor"

    def recognises(self, value: object) -> bool:
        """Returns whether the value has the fields of a state."""
        state = value.get("state", value) if isinstance(value, dict) else None
        return isinstance(state, dict) and {"plan", "results", "status"} <= state.keys()

    def read(self, value: JsonObject) -> Iterator[RecordedRun]:
        """Yields the run; raises as ``run_from_state`` does."""
        yield RecordedRun({"agent_run": run_from_state(value)})
