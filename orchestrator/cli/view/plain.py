"""Chooses the fields of a state that ``--json`` prints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, cast

from orchestrator.cli.view.records import tool_call_to_plain
from orchestrator.state.graph_state import OrchestratorState
from orchestrator.state.records import StepRecord

_FIRST: Final = ("output", "status", "basis", "failure", "question", "task", "plan")
_STATE_FIELDS: Final = (*_FIRST, "replaced", "results", "synthesis", "warnings", "retries", "usage")
_RECORD_FIELDS: Final = (
    *("step_index", "step", "attempt", "status", "result", "verdict", "error"),
    *("basis", "basis_reason", "warnings"),
)


def state_to_plain(state: OrchestratorState, *, full: bool) -> dict[str, object]:
    """Convert a state to plain values, the output first.

    Args:
        state: The state. Steps are numbered from 0 in it.
        full: Every field; otherwise no reports, results of tools, prompts and counters.
    """
    values = cast("Mapping[str, object]", state)
    if full:
        return {**_select(values, _FIRST), **values}
    return {
        **_select(values, _STATE_FIELDS),
        "results": [_record_to_plain(record) for record in state["results"]],
        "synthesis": [_record_to_plain(record) for record in state["synthesis"]],
    }


def _record_to_plain(record: StepRecord) -> dict[str, object]:
    calls = [tool_call_to_plain(call) for call in record["tool_calls"]]
    return {**_select(record, _RECORD_FIELDS), "tool_calls": calls}


def _select(values: Mapping[str, object], names: Sequence[str]) -> dict[str, object]:
    return {name: values[name] for name in names if name in values}
