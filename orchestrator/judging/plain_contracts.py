"""Reads the contract that the caller's function states, and what a contract leaves to a judge."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeAlias, cast

from evaluation import ContractError, EvaluationContract
from evaluation.checks.contract_checks import NamedCheck, find_check
from evaluation.checks.custom import FunctionCheck
from evaluation.contract.requirements import Contract
from evaluation.sensitive.scanner import quote_text
from orchestrator.errors import ContractFunctionError
from orchestrator.state.plain_values import format_repr, format_text

ContractFunction: TypeAlias = Callable[[str, int], EvaluationContract | Mapping[str, object] | None]

OBJECTIVE: Final = "objective"
_PLAIN_CRITERIA: Final = frozenset({OBJECTIVE, "correctness"})
"""Criteria that add nothing to the objective, unless they say more."""


def call_contract_function(function: ContractFunction, step: object, index: object) -> Contract | None:
    """Return the contract of a step; None leaves it to the planner.

    Raises:
        ContractFunctionError: The function raised, or returned something else.
    """
    try:
        contract: object = function(cast("str", step), cast("int", index))
    except ContractFunctionError:
        raise
    except (Exception, SystemExit) as error:
        # User code may raise anything; the run ends with this as its failure.
        raise ContractFunctionError(
            f"the contract function raised {type(error).__name__}: {format_text(error)}"
        ) from error
    if contract is None:
        return None
    if not isinstance(contract, EvaluationContract | Mapping):
        raise ContractFunctionError(
            f"the contract function returned {format_repr(contract, 80)}; "
            "return an EvaluationContract or None"
        )
    try:
        return Contract.read(contract)
    except ContractError as error:
        raise ContractFunctionError(f"the contract function: {error}") from None


def find_unknown_check(contract: Contract, given: Sequence[FunctionCheck]) -> str | None:
    """Return why a check by name cannot be used, beginning with its field; None if all can."""
    for each in contract.requirements:
        if isinstance(each.check, NamedCheck) and isinstance(problem := find_check(each.check, given), str):
            return f"{each.field} names {quote_text(each.check.name)}; {problem}"
    return None


def list_criteria(contract: Contract) -> list[str]:
    """Return the names of what only a judge can score, besides the objective, and instructions to a judge."""
    rubric = contract.rules.rubric
    stated = [(name, "") for name in contract.rules.subjective_criteria]
    if rubric is not None:
        stated += [(each.name, each.description or str(each.anchors or "")) for each in rubric.criteria]
    names = [name for name, details in stated if not is_plain(name, details)]
    return [*names, *([rubric.instructions] if rubric and rubric.instructions else [])]


def is_plain(name: str, details: object) -> bool:
    """Return whether a criterion adds nothing to the objective; ``details`` say more than its name."""
    return name in _PLAIN_CRITERIA and not details
