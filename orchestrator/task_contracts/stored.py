"""Compares the contract of a task that the caller states with the one that is stored with a run."""

from __future__ import annotations

from evaluation import TaskCase
from orchestrator.judging.tools.names import ToolNames
from orchestrator.state.current_step import find_derived_output
from orchestrator.state.graph_state import DerivedContracts, OrchestratorState
from orchestrator.state.records import DerivedContract
from orchestrator.task_contracts.source import read_case


def replace_contract(state: OrchestratorState, case: TaskCase | None, tools: ToolNames) -> OrchestratorState:
    """Returns the state of a fork with the contract that the case states, if it states one.

    Raises:
        ContractFunctionError: The case is one of another task.
    """
    stated = None if case is None else read_case(case, state["task"], tools)
    if stated is None:
        return state
    derived = DerivedContracts(output=stated, steps=[None] * len(state["plan"]))
    return {**state, "declared": {**state["declared"], "derived": derived}}


def find_contract_problem(state: OrchestratorState, case: TaskCase | None, tools: ToolNames) -> str | None:
    """Returns why a stored run cannot go on with a case: its checks were never stored with the run.

    Raises:
        ContractFunctionError: The case is one of another task.
    """
    if case is None or state["status"] == "planning":
        return None
    stated = read_case(case, state["task"], tools)
    if stated is None or _read_demands(stated) == _read_demands(find_derived_output(state)):
        return None
    return "it has another contract than contract=; leave that out, or fork the run to check it by that one"


def _read_demands(contract: DerivedContract | None) -> object:
    # Warnings depend on the tools of the executor, which may be another one.
    return None if contract is None else (contract["contract"], contract["unchecked"])
