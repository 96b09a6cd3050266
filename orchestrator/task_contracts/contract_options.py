"""Reads the options of an orchestrator that state contracts: of the run, and of its steps."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import Final, Literal, TypeAlias, cast

from evaluation import EvaluationContract, TaskCase
from evaluation.evalset.task_case import FROM_TASK
from evaluation.metrics.metric_table import find_threshold_problems
from orchestrator.errors import ConfigurationError, ContractFunctionError
from orchestrator.judging.contracts import Contracts
from orchestrator.judging.output import OutputRules, merge_contracts
from orchestrator.judging.plain_contracts import ContractFunction, name_contract, plain_contract
from orchestrator.judging.tools.names import ToolNames
from orchestrator.state.plain_values import format_repr
from orchestrator.state.records import PlainContract

ContractSource: TypeAlias = EvaluationContract | Literal["from_task"] | TaskCase | None
StepContract: TypeAlias = EvaluationContract | ContractFunction | None
_NO_RULES: Final = OutputRules()
_UNKNOWN_TOOLS: Final = ToolNames()


@dataclass(frozen=True, slots=True)
class StatedContracts:
    """The contracts that the caller states.

    Attributes:
        run: The option ``contract``.
        step: The option ``step_contract``.
        output: The options ``output_contract``, ``output_type`` and ``checks``.
    """

    run: ContractSource = None
    step: StepContract = None
    output: OutputRules = _NO_RULES


def read_contracts(stated: StatedContracts, tools: ToolNames = _UNKNOWN_TOOLS) -> Contracts:
    """Validates the contracts that the caller states.

    Raises:
        ConfigurationError: One is of another type; two contradict each other; a threshold has a name that is
            no metric, and no direction; or a contract needs a tool that the executor lacks.
    """
    run, step = _read_run_contract(stated.run, tools), _read_step_contract(stated.step, tools)
    named = {"contract": run, "output_contract": stated.output.contract}
    if (problem := tools.find_problem(stated.output.contract)) is not None:
        raise ConfigurationError(f"output_contract.{problem}")
    plain = {"step_contract": None if callable(step) else step, **named}
    return Contracts(
        step,
        replace(stated.output, contract=_merge(run, stated.output.contract)),
        tools=tools,
        has_case=isinstance(stated.run, TaskCase) and stated.run.contract != FROM_TASK,
        warnings=tuple(
            f"{name}.{text}" for name, contract in plain.items() for text in tools.list_warnings(contract)
        ),
    )


def _read_run_contract(source: object, tools: ToolNames) -> PlainContract | None:
    if source is None or source == FROM_TASK or isinstance(source, TaskCase):
        return None
    if isinstance(source, EvaluationContract):
        return _read_contract(source, "contract", tools)
    if callable(source):
        raise ConfigurationError(
            "contract is a function; the contract of the run is one contract, and step_contract= takes "
            "a function of a step and its index"
        )
    # A file of `orchestrator checks --save` holds cases.
    is_file = isinstance(source, str | PurePath) and PurePath(source).suffix in (".yaml", ".yml", ".json")
    from_file = f" such as read_case_set({str(source)!r}).cases[0]" if is_file else ""
    raise ConfigurationError(
        f"contract is {format_repr(source, 80)}; give {name_contract(source, 'contract')}, "
        f"'from_task', or a TaskCase{from_file}"
    )


def _read_step_contract(source: object, tools: ToolNames) -> ContractFunction | PlainContract | None:
    if isinstance(source, EvaluationContract):
        return _read_contract(source, "step_contract", tools)
    if source is None or callable(source):
        return cast("ContractFunction | None", source)
    raise ConfigurationError(
        f"step_contract is {format_repr(source, 80)}; give {name_contract(source, 'step_contract')}, "
        "or a function of a step and its index that returns one"
    )


def _read_contract(contract: EvaluationContract, name: str, tools: ToolNames) -> PlainContract:
    if problem := "; ".join(find_threshold_problems(contract)) or tools.find_problem(contract):
        raise ConfigurationError(f"{name}.{problem}")
    return plain_contract(contract)


def _merge(run: PlainContract | None, output: PlainContract | None) -> PlainContract | None:
    if run is None or output is None:
        return output if run is None else run
    try:
        return merge_contracts(run, output)
    except ContractFunctionError as error:
        raise ConfigurationError(str(error)) from None
