"""The state update of a re-plan, and the request for it."""

from __future__ import annotations

from typing import TypeAlias

from agents.prompts import fence_text, find_boundary
from orchestrator.planning.plan import PlannedSteps
from orchestrator.state.graph_state import NOTHING_UNDERWAY, OrchestratorState, StateUpdate, list_accepted
from orchestrator.state.records import SupervisionMode

Modes: TypeAlias = list[SupervisionMode | None] | None
"""The supervision mode of each step, None for the orchestrator's; None if no step has one of its own."""


def build_replan_update(state: OrchestratorState, steps: PlannedSteps, modes: Modes) -> StateUpdate:
    """Returns the fields after a re-plan: the new steps come after the old ones, the open ones are given up.

    Args:
        state: The state before the re-plan, with the contracts that were derived for the new steps.
        steps: The new steps.
        modes: The mode of each new step, None for the orchestrator's; None if no step has one of its own.
    """
    count, declared, retries = len(state["plan"]), state["declared"], state["retries"]
    accepted = {record["step_index"] for record in list_accepted(state["results"])}
    return {
        "retries": {**retries, "replans": retries["replans"] + 1},
        # The old steps keep their indices, by which their records are stored.
        "plan": [*state["plan"], *steps.texts],
        "declared": {
            **declared,
            "modes": None
            if declared["modes"] is None and modes is None
            else [*(declared["modes"] or [None] * count), *(modes or [None] * len(steps.texts))],
        },
        "replaced": [step for step in range(count) if step not in accepted],
        "current_step_index": count,
        "attempts": 0,
        "underway": NOTHING_UNDERWAY,
        "status": "executing",
    }


def build_replan_request(state: OrchestratorState) -> str:
    """Returns the planner's input for a re-plan: the task, the accepted results and the failure.

    A step that the retry policy splits is planned as several, before the steps that come after it.
    """
    task, failure = state["task"], state["underway"]["replan"] or ""
    # Results and failure may quote foreign text, so they are fenced as data.
    mark = find_boundary(task, state["context"], failure)
    parts = [
        task,
        fence_text("done already", state["context"], mark) if state["context"] else "",
        fence_text("tried, and failed", failure, mark),
        "Plan only what is left to do, in another way than the one that failed.",
    ]
    return "\n\n".join(part for part in parts if part)
