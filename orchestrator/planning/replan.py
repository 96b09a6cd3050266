"""State updates of a plan and of a re-plan, and the request for a re-plan."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from agents.prompts import fence_text, find_boundary
from orchestrator.planning.parallel import list_done_steps
from orchestrator.planning.plan import PlannedSteps
from orchestrator.state.graph_state import NOTHING_UNDERWAY, Declared, OrchestratorState, StateUpdate
from orchestrator.state.supervision_records import SupervisionMode

T = TypeVar("T")


def build_plan_update(
    declared: Declared, steps: PlannedSteps, modes: list[SupervisionMode | None] | None, run_id: str
) -> StateUpdate:
    """Returns the fields of a first plan; ``declared`` may have the contracts that were derived."""
    own: Declared = {
        **declared,
        "run_id": run_id,
        "needs": steps.needs,
        "contracts": steps.contracts,
        "modes": modes,
    }
    return {"plan": steps.texts, "declared": own}


def build_replan_update(
    state: OrchestratorState, steps: PlannedSteps, modes: list[SupervisionMode | None] | None
) -> StateUpdate:
    """Returns the fields after a re-plan: the new steps come after the old ones, the open ones are given up.

    Args:
        state: The state before the re-plan, with the contracts that were derived for the new steps.
        steps: The new steps. Their needs are indices among themselves; each also needs all accepted steps.
        modes: The mode of each new step, None for the orchestrator's; None if no step has one of its own.
    """
    count, declared = len(state["plan"]), state["declared"]
    done = list_done_steps(state)
    return {
        # The old steps keep their indices, by which their records are stored.
        "plan": [*state["plan"], *steps.texts],
        "declared": {
            **declared,
            "needs": _merge_needs(declared["needs"], steps, count, sorted(done - {*state["replaced"]})),
            "contracts": _append(declared["contracts"], steps.contracts, count, len(steps.texts)),
            "modes": _append(declared["modes"], modes, count, len(steps.texts)),
        },
        "replaced": sorted([*state["replaced"], *(step for step in range(count) if step not in done)]),
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


def _append(before: list[T] | None, new: list[T] | None, count: int, added: int) -> list[T | None] | None:
    """Returns one value for each of ``count`` old steps and ``added`` new ones; None if no step has one."""
    if before is None and new is None:
        return None
    return [*_fill(before, count), *_fill(new, added)]


def _fill(values: list[T] | None, count: int) -> list[T | None]:
    return [None] * count if values is None else [*values]


def _merge_needs(
    before: list[list[int]] | None, steps: PlannedSteps, count: int, accepted: Sequence[int]
) -> list[list[int]] | None:
    """Returns the needs of all steps: a new step needs every accepted step and its own needs."""
    if before is None and steps.needs is None:
        return None
    # A sequential part of the plan says the same as needs that name the step before.
    sequence = [[index - 1] if index else [] for index in range(len(steps.texts))]
    new = [[*accepted, *(step + count for step in needed)] for needed in steps.needs or sequence]
    return [*([[]] * count if before is None else before), *new]
