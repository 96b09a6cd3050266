"""Where the graph goes next: pure functions of the state."""

from __future__ import annotations

from typing import Literal

from orchestrator.state import OrchestratorState


def route_after_planner(state: OrchestratorState) -> Literal["execute", "end"]:
    """Execute the plan, unless there is none."""
    return "execute" if state["status"] == "executing" else "end"


def route_after_executor(state: OrchestratorState) -> Literal["judge", "end"]:
    """Judge the output, unless there is none."""
    return "judge" if state["status"] == "executing" else "end"


def route_after_monitor(state: OrchestratorState) -> Literal["next_step", "retry", "end"]:
    """Go on after a validated step, try a refused one again, or end."""
    if state["status"] != "executing":
        return "end"
    return "retry" if state["attempts"] else "next_step"
