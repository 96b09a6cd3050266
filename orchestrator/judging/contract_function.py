"""Calls the caller's function that builds the contract of a step."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias, cast

from evaluation import EvaluationContract
from orchestrator.errors import ContractFunctionError
from orchestrator.state.plain_values import format_repr, format_text
from orchestrator.state.records import PlainContract

ContractFunction: TypeAlias = Callable[[str, int], EvaluationContract | None]


def call_contract_function(function: ContractFunction, step: object, index: object) -> PlainContract | None:
    """Return the contract of a step as plain JSON; None leaves it to the planner.

    Raises:
        ContractFunctionError: The function raised, or returned something else.
    """
    try:
        contract: object = function(cast("str", step), cast("int", index))
    except (Exception, SystemExit) as error:
        # User code may raise anything; the run ends with this as its failure.
        raise ContractFunctionError(
            f"the contract function raised {type(error).__name__}: {format_text(error)}"
        ) from error
    if contract is None:
        return None
    if not isinstance(contract, EvaluationContract):
        raise ContractFunctionError(
            f"the contract function returned {format_repr(contract, 80)}; "
            "return an EvaluationContract or None"
        )
    return plain_contract(contract)


def plain_contract(contract: EvaluationContract) -> PlainContract:
    """Return the fields that are set. Of a whole case, the baseline stays, and the run is another one."""
    # A default that is written out would count as a demand of the contract.
    names = {*EvaluationContract.model_fields, "baseline_metrics"}
    return contract.model_dump(exclude_unset=True, include=names)
