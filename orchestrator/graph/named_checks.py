"""Refuses contracts of the caller that name a check which does not exist, before a step runs."""

from __future__ import annotations

from collections.abc import Sequence

from evaluation import EvaluationContract, TaskCase
from evaluation.checks.custom import CustomCheck
from evaluation.checks.registry import NamedCheck, find_check, read_contract_checks
from evaluation.sensitive.quoting import quote_text
from orchestrator.errors import ConfigurationError, ContractFunctionError
from orchestrator.judging.contracts import ContractSource
from orchestrator.judging.plain_contracts import ContractFunction, plain_contract
from orchestrator.state.records import PlainContract


def require_named_checks(
    source: ContractSource, output: PlainContract | None, given: Sequence[CustomCheck]
) -> ContractSource:
    """Returns the source of contracts; a function then checks each contract that it returns.

    Args:
        source: The option ``contract``.
        output: The option ``output_contract``.
        given: The checks of the caller, which contracts can name.

    Raises:
        ConfigurationError: A contract names a check that does not exist, or that cannot be imported.
    """
    own = source.contract if isinstance(source, TaskCase) else source
    stated = {"contract": plain_contract(own) if isinstance(own, EvaluationContract) else None}
    for name, contract in {**stated, "output_contract": output}.items():
        if contract is not None and (problem := _find_problem(contract, given)) is not None:
            raise ConfigurationError(f"{name}.{problem}")
    return _add_check(source, given) if callable(source) else source


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
