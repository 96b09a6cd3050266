"""A plan as the state holds it, and what is planned again once a step is out of retries; pure functions."""

from __future__ import annotations

from collections.abc import Sequence

from agents.prompts import fence_text, find_boundary
from orchestrator.planning.parallel import done
from orchestrator.planning.plan import PlannedSteps
from orchestrator.state.graph_state import (
    NOTHING_UNDERWAY,
    Declared,
    Json,
    OrchestratorState,
    StateUpdate,
)
from orchestrator.state.records import SupervisionMode


def planned(steps: PlannedSteps, modes: list[SupervisionMode] | None, run_id: str) -> StateUpdate:
    """The fields of a first plan."""
    needs = None if steps.needs is None else [list(needed) for needed in steps.needs]
    declared = Declared(run_id=run_id, needs=needs, contracts=_contracts(steps), modes=modes)
    return {"plan": list(steps.texts), "declared": declared}


def replanned(
    state: OrchestratorState, steps: PlannedSteps, modes: list[SupervisionMode] | None
) -> StateUpdate:
    """The fields after a re-plan: new steps after the old plan, of which what does not stand is given up.

    Args:
        state: Before it.
        steps: The new steps; what they need is counted among themselves, and all that stands besides.
        modes: How they are supervised, where a function says it.
    """
    before, declared = len(state["plan"]), state["declared"]
    standing = done(state)
    return {
        "plan": [*state["plan"], *steps.texts],
        "declared": Declared(
            run_id=declared["run_id"],
            needs=_all_needs(declared["needs"], steps, before, sorted(standing - {*state["replaced"]})),
            contracts=_all_contracts(declared["contracts"], steps, before),
            modes=None if modes is None else [*(declared["modes"] or []), *modes],
        ),
        "replaced": sorted([*state["replaced"], *(step for step in range(before) if step not in standing)]),
        "current_step_index": before,
        "attempts": 0,
        "underway": NOTHING_UNDERWAY,
        "status": "executing",
    }


def replan_request(state: OrchestratorState) -> str:
    """What a planner is told: the task, the results that stand, and what failed; all but the task as data."""
    task, failure = state["task"], state["underway"]["replan"] or ""
    mark = find_boundary(task, state["context"], failure)
    parts = [
        task,
        fence_text("done already", state["context"], mark) if state["context"] else "",
        fence_text("tried, and failed", failure, mark),
        "Plan only what is left to do, in another way than the one that failed.",
    ]
    return "\n\n".join(part for part in parts if part)


def _contracts(steps: PlannedSteps) -> list[dict[str, Json] | None] | None:
    return list(steps.contracts) if any(one is not None for one in steps.contracts) else None


def _all_contracts(
    before: Sequence[dict[str, Json] | None] | None, steps: PlannedSteps, count: int
) -> list[dict[str, Json] | None] | None:
    new = _contracts(steps)
    if before is None and new is None:
        return None
    return [*(before or [None] * count), *(new or [None] * len(steps.texts))]


def _all_needs(
    before: Sequence[Sequence[int]] | None, steps: PlannedSteps, count: int, standing: Sequence[int]
) -> list[list[int]] | None:
    """What each step needs; the steps of a sequential part need the one before; new ones, all that stands."""
    if before is None and steps.needs is None:
        return None
    in_a_row = [[index - 1] if index else [] for index in range(len(steps.texts))]
    new = in_a_row if steps.needs is None else [list(needed) for needed in steps.needs]
    old = [[]] * count if before is None else [list(needed) for needed in before]
    return [*old, *([*standing, *(one + count for one in needed)] for needed in new)]
