"""Our own files: cases with ``agent_run``, and states of runs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from evaluation.contract.run_state import run_from_state
from evaluation.recordings.recorded_run import RecordedRun, RunFormat
from evaluation.values import JsonObject


def _is_case(value: object) -> bool:
    return isinstance(value, dict) and "agent_run" in value


def _read_case(value: JsonObject) -> Iterator[RecordedRun]:
    yield RecordedRun(value)


def _is_state(value: object) -> bool:
    """Returns whether a value is a state, or the document of ``orchestrator show --json`` around it."""
    state = value.get("state", value) if isinstance(value, dict) else None
    return isinstance(state, dict) and {"plan", "results", "status"} <= state.keys()


def _read_state(value: JsonObject) -> Iterator[RecordedRun]:
    yield RecordedRun({"agent_run": run_from_state(value)})


CASE: Final = RunFormat("case with agent_run", _is_case, _read_case)
STATE: Final = RunFormat("state of a run of plan-execute-monitor", _is_state, _read_state)
