"""Prints the JSON documents of ``--json``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, cast

import typer

from orchestrator.cli.view.terminal_text import to_json
from orchestrator.retry.refused_step import find_best_answer
from orchestrator.state.graph_state import OrchestratorState

_FIRST: Final = ("output", "status", "basis", "evidence", "failure", "question", "task", "plan")


def print_json(document: object) -> None:
    """Prints a document on standard output, in UTF-8 in every locale."""
    typer.echo(to_json(document).encode())


def output_first(state: OrchestratorState) -> dict[str, object]:
    """Returns the whole state, its result first, and the ``best_attempt`` of a run that failed."""
    values = cast("Mapping[str, object]", state)
    best = find_best_answer(state) if state["status"] == "failed" else None
    found = {} if best is None else {"best_attempt": best["result"]}
    return {**{name: values[name] for name in _FIRST if name in values}, **found, **values}
