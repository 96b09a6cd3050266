"""Which contract a step has to fulfil."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias, cast

from evaluation import EvaluationContract
from orchestrator.errors import ConfigurationError, ContractFunctionError
from orchestrator.state.current_step import current_step, read_planned_contract
from orchestrator.state.graph_state import Json, OrchestratorState
from orchestrator.state.plain_values import format_repr, format_text

ContractFunction: TypeAlias = Callable[[str, int], EvaluationContract | None]
ContractSource: TypeAlias = EvaluationContract | ContractFunction | None
PlainContract: TypeAlias = Mapping[str, Json]

OBJECTIVE: Final = "objective"
OBJECTIVE_ONLY: Final[PlainContract] = {
    "subjective_criteria": [OBJECTIVE],
    "audit": {"credentials": "info"},
}
"""Without a contract the monitor alone decides whether the objective is met; what else is seen is noted."""


@dataclass(frozen=True, slots=True)
class Contracts:
    """Where the contracts come from: the caller, else the planner, else the objective alone.

    Args:
        source: One contract for all steps, or a function of a step's text and index that gives one, or None
            to leave it to the planner.
    """

    source: ContractFunction | PlainContract | None

    def of(self, state: OrchestratorState) -> PlainContract:
        """The contract of the current step as plain JSON.

        Raises:
            ContractFunctionError: The caller's function raised, or returned something else.
        """
        source = self.source
        given = _called(source, *reversed(current_step(state))) if callable(source) else source
        if given is not None:
            return given
        return read_planned_contract(state) or OBJECTIVE_ONLY


def contracts_of(source: object) -> Contracts:
    """Check what the caller gave as ``contract``.

    Raises:
        ConfigurationError: Neither an EvaluationContract, nor a function, nor None.
    """
    if isinstance(source, EvaluationContract):
        return Contracts(_plain(source))
    if source is None or callable(source):
        return Contracts(cast("ContractFunction | None", source))
    raise ConfigurationError(
        f"contract is {format_repr(source, 80)}; give an EvaluationContract, or a function of a step "
        "and its index that returns one"
    )


def _called(function: ContractFunction, step: object, index: object) -> PlainContract | None:
    try:
        contract: object = function(cast("str", step), cast("int", index))
    except Exception as error:
        # The caller's own code.
        raise ContractFunctionError(
            f"the contract function raised {type(error).__name__}: {format_text(error)}"
        ) from error
    if contract is None:
        return None
    if not isinstance(contract, EvaluationContract):
        raise ContractFunctionError(
            f"the contract function returned {format_repr(contract, 80)}; "
            "an EvaluationContract or None is wanted"
        )
    return _plain(contract)


def _plain(contract: EvaluationContract) -> PlainContract:
    """What was set; a run and its metadata are no part of it, even where a whole case was given."""
    names = set(EvaluationContract.model_fields)
    return contract.model_dump(exclude_unset=True, include=names)
