"""Reads from the state which contract was derived for the current output: pure functions."""

from __future__ import annotations

from collections.abc import Sequence

from orchestrator.state.current_step import current_index
from orchestrator.state.graph_state import Declared, DerivedContracts, OrchestratorState
from orchestrator.state.records import DerivedContract


def find_derived_output(state: OrchestratorState) -> DerivedContract | None:
    """Returns what was derived from the task for the final output; None if nothing was."""
    derived = state["declared"].get("derived")
    return None if derived is None else derived["output"]


def list_derived(state: OrchestratorState, *, is_output: bool) -> list[DerivedContract]:
    """Returns what was derived for the current output: from the task if it is final, and from its step."""
    derived = state["declared"].get("derived")
    if derived is None:
        return []
    # The plan of a parallel branch holds its own step alone; the synthesis has no step.
    position = 0 if state["underway"]["branch"] is not None else state["current_step_index"]
    stated = [derived["output"] if is_output else None, *derived["steps"][position : position + 1]]
    return [contract for contract in stated if contract is not None]


def extend_derived(declared: Declared, steps: Sequence[DerivedContract | None]) -> Declared:
    """Returns the declarations after a re-plan, if contracts were derived for the first plan."""
    derived = declared.get("derived")
    if derived is None:
        return declared
    return {**declared, "derived": {**derived, "steps": [*derived["steps"], *steps]}}


def select_derived(declared: Declared, steps: Sequence[int]) -> Declared:
    """Returns the declarations of a state whose plan has only these steps, with their contracts alone."""
    own = Declared(run_id=declared["run_id"], needs=None, contracts=None, modes=None)
    derived = declared.get("derived")
    if derived is None:
        return own
    contracts = [derived["steps"][step] for step in steps]
    return {**own, "derived": DerivedContracts(output=derived["output"], steps=contracts)}


def has_derived_output(state: OrchestratorState) -> bool:
    """Returns whether a contract of the final output was derived that asks for something."""
    output = find_derived_output(state)
    return output is not None and bool(output["contract"])


def is_only_step(state: OrchestratorState) -> bool:
    """Returns whether the plan has one step."""
    return _count_steps(state) == 1


def is_last_step(state: OrchestratorState) -> bool:
    """Returns whether the current step is the last one of the plan."""
    return current_index(state) + 1 == _count_steps(state)


def _count_steps(state: OrchestratorState) -> int | None:
    """Returns the number of steps of the plan; None for a parallel step that an earlier version began."""
    is_branch = state["underway"]["branch"] is not None
    return state["declared"].get("count") if is_branch else len(state["plan"])
