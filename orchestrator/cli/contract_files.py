"""Reads the contracts that ``run --contract`` and ``evaluate --contract`` name."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from evaluation import ContractError, TaskCase, read_case_set
from evaluation.cases.case_files import CaseSet, read_contract_file, read_values
from evaluation.values import JsonObject, as_object
from orchestrator.cli.consoles import one_line
from orchestrator.errors import ConfigurationError
from orchestrator.study.recorded_evaluation import check_cases, check_names

_LABELS: Final = frozenset({"owner", "complete"})
"""Fields of a contract that demand nothing by themselves."""


def read_contract(path: Path, task: str) -> TaskCase:
    """Reads the case of a task from a file that ``checks --save`` wrote.

    Raises:
        ContractError: The file has no cases.
        ConfigurationError: It has no case for this task, or several.
    """
    cases = read_case_set(path).cases
    matches = [case for case in cases if case.task.split() == task.split()]
    if len(matches) != 1:
        tasks = "; ".join(f"{one_line(case.task, 80)!r}" for case in cases[:3])
        raise ConfigurationError(
            f"--contract {str(path)!r} has {len(matches) or 'no'} cases for this task; "
            f"give a file with one (its tasks: {tasks}), such as `orchestrator checks --save` writes"
        )
    return matches[0]


def read_stated_contracts(file: Path) -> tuple[JsonObject | None, Mapping[str, JsonObject] | None]:
    """Reads the contract that holds for every run, or the contracts of cases by their names and tasks.

    Args:
        file: A file in YAML or JSON: the fields of a contract, also below ``contract``; or cases.

    Returns:
        The fields of the contract, and those of each case; one of the two is None.

    Raises:
        ConfigurationError: The file cannot be read, it has no contract, or a case has none of its own.
    """
    try:
        if "cases" in as_object(read_values(file)):
            return None, _index_contracts(read_case_set(file), file)
        contract = read_contract_file(file)
        check_names({"": contract}, file)
        fields: JsonObject = contract.model_dump(mode="json", exclude_unset=True)
        # An empty trajectory demands that no tool is called.
        if any(fields[name] or name == "expected_trajectory" for name in fields.keys() - _LABELS):
            return fields, None
        raise ContractError("it demands nothing of a run; give at least one check")
    except ValueError as error:
        raise ConfigurationError(
            f"--contract {str(file)!r} cannot be used ({error}); see `orchestrator checks --save`"
        ) from None


def _index_contracts(cases: CaseSet, file: Path) -> dict[str, JsonObject]:
    check_cases(cases, file)
    contracts: dict[str, JsonObject] = {}
    for case in cases.cases:
        if isinstance(case.contract, str):
            raise ContractError(f"the case {one_line(case.title, 80)!r} has no contract of its own")
        fields = case.contract.model_dump(mode="json", exclude_unset=True)
        contracts |= dict.fromkeys((" ".join(case.task.split()), case.title), fields)
    return contracts
