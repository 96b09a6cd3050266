"""Renders what a notebook shows of a run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from evaluation.results.notebook_card import CardTable, render_card
from orchestrator.state.current_step import read_basis_reason
from orchestrator.state.graph_state import OrchestratorState

if TYPE_CHECKING:
    from orchestrator.runs.run_selection import RunSummary


def render_run(state: OrchestratorState, status: str, thread_id: str | None = None) -> str:
    """Returns a run with its attempts as HTML."""
    failure, question = state["failure"], state["question"]
    facts = {
        "thread": thread_id,
        "task": state["task"],
        "basis": read_basis_reason(state),
        "output": state["output"],
        "failure": failure and failure["message"],
        "question": question and question["text"],
    }
    rows = [
        (
            *(record["step_index"] + 1, record["attempt"], record["step"], record["status"]),
            *(record.get("basis_reason"), record["error"] or record["result"]),
        )
        for record in (*state["results"], *state["synthesis"])
    ]
    columns = ("step", "attempt", "what to do", "status", "basis", "output")
    return render_card(status, facts, CardTable(columns, rows))


def render_runs(runs: Sequence[RunSummary]) -> str:
    """Returns the lines of stored runs as HTML."""
    rows = [
        (run.thread_id, run.status, f"{run.steps_done}/{run.steps_planned}", f"{run.updated:%F %T}", run.task)
        for run in runs
    ]
    columns = ("thread", "status", "steps", "updated (UTC)", "task")
    return render_card(f"runs: {len(rows)}", {}, CardTable(columns, rows))
