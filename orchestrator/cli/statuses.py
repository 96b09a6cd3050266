"""The exit statuses of every command."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from orchestrator.state.graph_state import OrchestratorState

SUCCESS: Final = 0
FAILED: Final = 1
BAD_INPUT: Final = 2
WAITING: Final = 3
"""A run waits for a person's answer."""
INTERRUPTED: Final = 130
"""The status that a shell reports for a command ended by Ctrl-C."""


def get_run_status(state: OrchestratorState) -> int:
    """Returns the exit status of the command that leaves a run in this state."""
    if state["status"] in ("success", "failed"):
        return SUCCESS if state["status"] == "success" else FAILED
    return INTERRUPTED if state["question"] is None else WAITING
