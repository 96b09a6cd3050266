"""Refuses contracts of the caller that name a check which does not exist, before a step runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from evaluation import EvaluationContract, TaskCase
from evaluation.checks.custom import CustomCheck
from evaluation.checks.registry import NamedCheck, find_check, read_contract_checks
from evaluation.sensitive.quoting import quote_text
from orchestrator.errors import ConfigurationError, ContractFunctionError
from orchestrator.judging.plain_contracts import ContractFunction, plain_contract
from orchestrator.state.records import PlainContract
from orchestrator.task_contracts.contract_options import StatedContracts


def require_named_checks(stated: StatedContracts, given: Sequence[CustomCheck]) -> StatedContracts:
    """Returns the contracts of the caller; a function then checks each contract that it returns.

    Args:
        stated: The contracts.
        given: The checks of the caller, which contracts can name.

    Raises:
        ConfigurationError: A contract names a check that does not exist, or that cannot be imported.
    """
    run = stated.run.contract if isinstance(stated.run, TaskCase) else stated.run
    named = {"contract": _read_plain(run), "output_contract": stated.output.contract}
    for name, contract in {**named, "step_contract": _read_plain(stated.step)}.items():
        if contract is not None and (problem := _find_problem(contract, given)) is not None:
            raise ConfigurationError(f"{name}.{problem}")
    return replace(stated, step=_add_check(stated.step, given)) if callable(stated.step) else stated


def _read_plain(contract: object) -> PlainContract | None:
    return plain_contract(contract) if isinstance(contract, EvaluationContract) else None


def _add_check(function: ContractFunction, given: Sequence[CustomCheck]) -> ContractFunction:
    def build(step: str, index: int) -> EvaluationContract | None:
        contract = function(step, index)
        # A function may return anything; its caller refuses what is no contract.
        if isinstance(contract, EvaluationContract):
            problem = _find_problem(plain_contract(contract), given)
            if problem is not None:
                raise ContractFunctionError(f"the contract cannot be used: {problem}")
        return contract

    return build


def _find_problem(contract: PlainContract, given: Sequence[CustomCheck]) -> str | None:
    """Returns why a check by name cannot be used, beginning with its field; None if all can."""
    for index, check in enumerate(read_contract_checks(contract.get("checks") or [])):
        if not isinstance(check, NamedCheck):
            continue
        if isinstance(problem := find_check(check, given), str):
            return f"checks[{index}] names {quote_text(check.name)}; {problem}"
    return None
