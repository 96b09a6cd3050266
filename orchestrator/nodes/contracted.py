"""A step for which there is no contract to be had."""

from __future__ import annotations

from orchestrator.errors import ContractFunctionError
from orchestrator.judging.contracts import Contracts
from orchestrator.judging.verdict import failed
from orchestrator.state.current_step import current_step
from orchestrator.state.graph_state import OrchestratorState, StateUpdate


def without_contract(contracts: Contracts, state: OrchestratorState) -> StateUpdate | None:
    """The failure of such a step, before it costs anything; None where there is a contract."""
    try:
        contracts.of(state)
    except ContractFunctionError as error:
        return failed("contract_error", str(error), current_step(state)[0], error)
    return None
