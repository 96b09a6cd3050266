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
from evaluation.validation.problems import describe_errors, list_field_paths
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
        try:
            contract = EvaluationContract.model_validate(dict(contract))
        except ValidationError as error:
            problems = describe_errors(error, contract, list_field_paths(EvaluationContract), "contract")
            raise ContractFunctionError(f"the contract function: {'; '.join(problems)}") from None
    if not isinstance(contract, EvaluationContract):
        raise ContractFunctionError(
            f"the contract function returned {format_repr(contract, 80)}; "
            f"return {name_contract(contract, 'fields')} or None"
        )
    return plain_contract(contract)


def find_unreadable(contracts: Iterable[PlainContract | None]) -> str | None:
    """Return why this version cannot read one of some stored contracts, or None if it can read all."""
    for contract in contracts:
        try:
            EvaluationContract.model_validate(contract or {})
        except ValidationError as error:
            return describe_errors(error, contract, list_field_paths(EvaluationContract), "contract")[0]
    return None


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


def has_checks(contract: PlainContract) -> bool:
    """Return whether a contract has a check of the output or of the calls, whose passing counts as one."""
    rules = mapping(contract.get("audit")).get("rules")
    required = isinstance(rules, list) and any("required" in mapping(rule) for rule in rules)
    expects_calls = contract.get("expected_trajectory") is not None
    return required or expects_calls or any(contract.get(name) for name in _CHECK_FIELDS)


def list_checks(contract: PlainContract) -> list[Json]:
    """Return the field ``checks`` of a contract; a contract from a store may have any value there."""
    checks = contract.get("checks")
    return checks if isinstance(checks, list) else []


def asks_for_calls(contract: PlainContract) -> bool:
    """Return whether a contract says which tools have to be called."""
    named = [mapping(check).get("check") for check in list_checks(contract)]
    expected = contract.get("expected_trajectory")
    return bool(contract.get("must_call") or expected or ToolCalls.get_name() in named)


def select_calls(contract: PlainContract) -> PlainContract:
    """Return the fields of a contract about calls; empty if no call of a tool is required."""
    if not asks_for_calls(contract):
        return {}
    checks = [each for each in list_checks(contract) if mapping(each).get("check") == ToolCalls.get_name()]
    return {name: contract[name] for name in _CALL_FIELDS if name in contract} | {"checks": checks}


def list_criteria(contract: PlainContract) -> list[str]:
    """Return the names of what only a judge can score, besides the objective, and instructions to a judge."""
    rubric = mapping(contract.get("rubric"))
    lists = (contract.get("subjective_criteria"), rubric.get("criteria"))
    criteria = [each for value in lists for each in cast("list[Json]", value or [])]
    return [name for name in (*map(_read_demand, criteria), str(rubric.get("instructions") or "")) if name]


def _read_demand(criterion: Json) -> str:
    """Return the name of a criterion; empty if it asks for nothing besides the objective."""
    fields = mapping(criterion)
    name = str(fields.get("name", criterion))
    return "" if is_plain(name, fields.get("description") or fields.get("anchors")) else name


def is_plain(name: str, details: object) -> bool:
    """Return whether a criterion adds nothing to the objective; ``details`` say more than its name."""
    return name in _PLAIN_CRITERIA and not details
