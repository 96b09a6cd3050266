"""Contracts as plain JSON: built by the caller's function, and read for what they ask."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, TypeAlias, cast

from pydantic import ValidationError

from evaluation import EvaluationContract
from evaluation.checks.contract_checks import NamedCheck, find_check, read_contract_checks
from evaluation.checks.custom import CustomCheck
from evaluation.checks.kinds.tools import ToolCalls
from evaluation.sensitive.scanner import quote_text
from evaluation.validation import describe_errors, list_field_paths
from orchestrator.errors import ContractFunctionError
from orchestrator.state.evaluation_report import mapping
from orchestrator.state.plain_values import format_repr, format_text
from orchestrator.state.records import Json, PlainContract

ContractFunction: TypeAlias = Callable[[str, int], EvaluationContract | Mapping[str, object] | None]

OBJECTIVE: Final = "objective"
_PLAIN_CRITERIA: Final = frozenset({OBJECTIVE, "correctness"})
"""Criteria that add nothing to the objective, unless they say more."""
_CHECK_FIELDS: Final = (
    "checks",
    "reference_output",
    "keywords",
    "required_content",
    "forbidden_content",
    "output_length",
    "must_call",
)
"""Fields of a contract that have an outcome about the output or the calls of tools."""


_CALL_FIELDS: Final = ("must_call", "expected_trajectory", "trajectory_match_mode", "trajectory")


def call_contract_function(function: ContractFunction, step: object, index: object) -> PlainContract | None:
    """Return the contract of a step as plain JSON; None leaves it to the planner.

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
    if isinstance(contract, Mapping):
        if problems := list_problems(dict(contract), "contract"):
            raise ContractFunctionError(f"the contract function: {'; '.join(problems)}")
        contract = EvaluationContract.model_validate(dict(contract))
    if not isinstance(contract, EvaluationContract):
        raise ContractFunctionError(
            f"the contract function returned {format_repr(contract, 80)}; "
            f"return {name_contract(contract, 'fields')} or None"
        )
    return plain_contract(contract)


def find_unreadable(contracts: Iterable[PlainContract | None]) -> str | None:
    """Return why this version cannot read one of some stored contracts, or None if it can read all."""
    problems = (list_problems(contract or {}, "contract") for contract in contracts)
    return next((found[0] for found in problems if found), None)


def list_problems(fields: Mapping[str, object], name: str) -> list[str]:
    """Returns why fields are no contract, a sentence each; ``name`` is the option that has them."""
    try:
        EvaluationContract.model_validate(fields)
    except ValidationError as error:
        return describe_errors(error, fields, list_field_paths(EvaluationContract), name)
    return []


def name_contract(value: object, name: str) -> str:
    """Returns how to write the contract in place of a value; ``name`` is the variable of a dict."""
    return f"EvaluationContract(**{name})" if isinstance(value, Mapping) else "an EvaluationContract"


def plain_contract(contract: EvaluationContract) -> PlainContract:
    """Return the fields that are set. Of a whole case, the baseline stays, and the run is another one."""
    # A default that is written out would count as a demand of the contract.
    names = {*EvaluationContract.model_fields, "baseline_metrics"}
    return contract.model_dump(exclude_unset=True, include=names)


def find_unknown_check(contract: PlainContract, given: Sequence[CustomCheck]) -> str | None:
    """Return why a check by name cannot be used, beginning with its field; None if all can."""
    for index, check in enumerate(read_contract_checks(contract.get("checks") or [])):
        if isinstance(check, NamedCheck) and isinstance(problem := find_check(check, given), str):
            return f"checks[{index}] names {quote_text(check.name)}; {problem}"
    return None


def read_contract(contract: PlainContract | EvaluationContract) -> EvaluationContract:
    """Returns the fields of a contract, also of a whole case; none if its evaluation refuses them."""
    if isinstance(contract, EvaluationContract):
        return contract
    try:
        return EvaluationContract.model_validate(
            {name: contract[name] for name in EvaluationContract.model_fields if name in contract}
        )
    except ValidationError:
        return EvaluationContract()


def has_checks(contract: PlainContract) -> bool:
    """Return whether a contract has a check of the output or of the calls, whose passing counts as one."""
    read = read_contract(contract)
    required = any(rule.required is not None for rule in read.audit.rules)
    expects_calls = read.expected_trajectory is not None
    return required or expects_calls or any(getattr(read, name) for name in _CHECK_FIELDS)


def list_checks(contract: PlainContract) -> list[Json]:
    """Return the field ``checks`` of a contract; a contract from a store may have any value there."""
    checks = contract.get("checks")
    return checks if isinstance(checks, list) else []


def asks_for_calls(contract: PlainContract) -> bool:
    """Return whether a contract says which tools have to be called."""
    read = read_contract(contract)
    named = any(isinstance(check, ToolCalls) for check in read.checks)
    return bool(read.must_call or read.expected_trajectory or named)


def select_calls(contract: PlainContract) -> PlainContract:
    """Return the fields of a contract about calls; empty if no call of a tool is required."""
    if not asks_for_calls(contract):
        return {}
    checks = [each for each in list_checks(contract) if mapping(each).get("check") == ToolCalls.get_name()]
    return {name: contract[name] for name in _CALL_FIELDS if name in contract} | {"checks": checks}


def list_criteria(contract: PlainContract) -> list[str]:
    """Return the names of what only a judge can score, besides the objective, and instructions to a judge."""
    read = read_contract(contract)
    rubric = read.rubric
    stated = [(name, "") for name in read.subjective_criteria]
    if rubric is not None:
        stated += [(each.name, each.description or str(each.anchors or "")) for each in rubric.criteria]
    names = [name for name, details in stated if not is_plain(name, details)]
    return [*names, *([rubric.instructions] if rubric and rubric.instructions else [])]


def is_plain(name: str, details: object) -> bool:
    """Return whether a criterion adds nothing to the objective; ``details`` say more than its name."""
    return name in _PLAIN_CRITERIA and not details
