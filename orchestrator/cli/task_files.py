"""Reads what users give beside options: a task, tools, and the contracts of ``run`` and ``evaluate``."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from evaluation import ContractError, TaskCase, read_case_set
from evaluation.cases.case_files import CaseSet, read_contract_file, read_values
from evaluation.values import JsonObject, as_object
from orchestrator.cli.consoles import one_line
from orchestrator.errors import ConfigurationError
from orchestrator.study.recorded_evaluation import check_cases, check_names

if TYPE_CHECKING:
    from langchain_core.tools import BaseTool  # slow to import

_LABELS: Final = frozenset({"owner", "complete"})
"""Fields of a contract that demand nothing by themselves."""


def read_task(task: str | None) -> str:
    """Returns the text of a task, without the blank lines around it.

    Args:
        task: The text; "-" reads it from standard input.

    Raises:
        ConfigurationError: It is missing or blank, or standard input is no text in UTF-8.
    """
    from orchestrator.settings import check_task  # LangGraph is slow to import

    if task is None:
        raise ConfigurationError('TASK is missing; give it in quotation marks, or "-" for standard input')
    if task != "-":
        return check_task(task)
    try:
        return check_task(sys.stdin.buffer.read().decode("utf-8-sig").strip())
    except UnicodeDecodeError:
        raise ConfigurationError("standard input is no text in UTF-8; give a text in UTF-8") from None


def read_contract(path: str, task: str, *, derives: bool) -> TaskCase:
    """Reads the case of a task from a file that ``checks --save`` wrote.

    Args:
        path: The file.
        task: The task.
        derives: Whether the run has checks; ``--no-checks`` contradicts a contract.

    Raises:
        ConfigurationError: The file cannot be used, it has no case for this task, or several.
    """
    if not derives:
        raise ConfigurationError("--contract and --no-checks contradict each other; give one of them")
    try:
        cases = read_case_set(path).cases
    except (ContractError, OSError) as error:
        raise _refuse_file(path, error) from None
    matches = [case for case in cases if case.task.split() == task.split()]
    if len(matches) != 1:
        tasks = "; ".join(f"{one_line(case.task, 80)!r}" for case in cases[:3])
        raise ConfigurationError(
            f"--contract {path!r} has {len(matches) or 'no'} cases for this task; "
            f"give a file with one (its tasks: {tasks})"
        )
    return matches[0]


def read_stated_contracts(file: Path | None) -> tuple[JsonObject | None, Mapping[str, JsonObject] | None]:
    """Reads the contract that holds for every run, or the contracts of cases by their names and tasks.

    Args:
        file: A file in YAML or JSON: the fields of a contract, also below ``contract``; or cases. None for
            none.

    Returns:
        The fields of the contract, and those of each case; one of the two is None.

    Raises:
        ConfigurationError: The file cannot be read, it has no contract, or a case has none of its own.
    """
    if file is None:
        return None, None
    try:
        if "cases" in as_object(read_values(file)):
            return None, _index_contracts(read_case_set(file), file)
        contract = read_contract_file(file)
        check_names({"": contract}, file)
    except (ValueError, OSError) as error:
        raise _refuse_file(str(file), error) from None
    fields: JsonObject = contract.model_dump(mode="json", exclude_unset=True)
    # An empty trajectory demands that no tool is called.
    if not any(fields[name] or name == "expected_trajectory" for name in fields.keys() - _LABELS):
        raise _refuse_file(str(file), ValueError("it demands nothing of a run; give at least one check"))
    return fields, None


def _index_contracts(cases: CaseSet, file: Path) -> dict[str, JsonObject]:
    check_cases(cases, file)
    contracts: dict[str, JsonObject] = {}
    for case in cases.cases:
        if isinstance(case.contract, str):
            raise ContractError(f"the case {one_line(case.title, 80)!r} has no contract of its own")
        fields = case.contract.model_dump(mode="json", exclude_unset=True)
        contracts |= dict.fromkeys((" ".join(case.task.split()), case.title), fields)
    return contracts


def _refuse_file(path: str, error: Exception) -> ConfigurationError:
    reason = (isinstance(error, OSError) and error.strerror) or error
    return ConfigurationError(
        f"--contract {path!r} cannot be used ({reason}); see `orchestrator checks --save`"
    )


def import_tools(names: Sequence[str]) -> list[BaseTool]:
    """Imports the tools that a user names with ``--tools``. This runs code, so no stored name comes here.

    Args:
        names: ``MODULE:NAME`` each: a LangChain tool, a function, or a list of these.

    Raises:
        ConfigurationError: A module or a name does not exist, the module raises, it holds no tool, or two
            tools have one name.
    """
    from agents.loop.tool_arguments import build_tools  # LangChain is slow to import

    try:
        return build_tools([tool for name in names for tool in _import_each(name)])
    except (TypeError, ValueError) as error:
        raise ConfigurationError(f"--tools: {error}") from None


def _import_each(name: str) -> Iterator[object]:
    from orchestrator.study.targets import import_name

    value = import_name(name, Path.cwd())
    yield from (value if isinstance(value, list | tuple) else [value])
