"""Chooses the fields of a state that ``--json`` prints."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Final, cast

import typer

from evaluation.sensitive.quoting import shorten
from orchestrator.cli.view.terminal_text import to_json
from orchestrator.retry.refused_step import find_best_answer
from orchestrator.state.graph_state import OrchestratorState
from orchestrator.state.records import Json, StepRecord, ToolCallRecord

_FIRST: Final = ("output", "status", "basis", "failure", "question", "task", "plan")
_STATE_FIELDS: Final = (*_FIRST, "replaced", "results", "synthesis", "warnings", "retries", "usage")
_RECORD_FIELDS: Final = (
    *("step_index", "step", "attempt", "status", "result", "verdict", "error"),
    *("basis", "basis_reason", "warnings"),
)
_CALL_FIELDS: Final = ("name", "args", "error", "gate", "made_in", "answer", "effect")
_SHOWN: Final = 100
"""Most characters of an argument and of an error of a tool call."""


def print_json(document: object) -> None:
    """Prints a document on standard output, in UTF-8 in every locale."""
    typer.echo(to_json(document).encode())


def state_to_plain(state: OrchestratorState, *, full: bool) -> dict[str, object]:
    """Converts a state to plain values, the output first.

    Args:
        state: The state. Steps are numbered from 0 in it.
        full: Every field; otherwise no reports, results of tools, prompts and counters.
    """
    values = cast("Mapping[str, object]", state)
    if full:
        return {**_select(values, _FIRST), **values}
    best = find_best_answer(state) if state["status"] == "failed" else None
    return {
        **_select(values, _STATE_FIELDS),
        **({} if best is None else {"best_attempt": best["result"]}),
        "results": [_record_to_plain(record) for record in state["results"]],
        "synthesis": [_record_to_plain(record) for record in state["synthesis"]],
    }


def _record_to_plain(record: StepRecord) -> dict[str, object]:
    calls = [tool_call_to_plain(call) for call in record["tool_calls"]]
    return {**_select(record, _RECORD_FIELDS), "tool_calls": calls}


def tool_call_to_plain(call: ToolCallRecord) -> dict[str, object]:
    """Converts a call to plain values without its result; long arguments and errors are shortened."""
    args, error = call["args"], call["error"]
    return {
        **_select(call, _CALL_FIELDS),
        "args": {name: _cut(value) for name, value in args.items()} if isinstance(args, dict) else _cut(args),
        "error": None if error is None else shorten(error, _SHOWN),
    }


def _cut(value: Json) -> Json:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return value if len(text) <= _SHOWN else shorten(text, _SHOWN)


def _select(values: Mapping[str, object], names: Sequence[str]) -> dict[str, object]:
    return {name: values[name] for name in names if name in values}
