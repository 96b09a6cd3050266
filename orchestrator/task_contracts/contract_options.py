"""The options of an orchestrator that state contracts, and the writer that derives them from the task."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, Protocol, TypeAlias, cast

from pydantic import ValidationError

from evaluation import EvaluationContract, TaskCase, task_checks
from evaluation.checks.contract_checks import CHECKS
from evaluation.checks.custom import CustomCheck
from evaluation.evalset.files import FROM_TASK
from evaluation.metrics.metric_table import find_threshold_problems
from evaluation.validation.problems import describe_errors, list_field_paths
from orchestrator.errors import ConfigurationError
from orchestrator.judging.contract_choice import Contracts
from orchestrator.judging.output import OutputRules
from orchestrator.judging.plain_contracts import (
    ContractFunction,
    find_unknown_check,
    name_contract,
    plain_contract,
)
from orchestrator.judging.tools.executor_tools import ExecutorTools
from orchestrator.state.plain_values import format_repr
from orchestrator.state.records import PlainContract

PlainFields: TypeAlias = Mapping[str, object]
"""A contract as a dict, such as ``{"must_call": ["price_of"]}``."""
ContractSource: TypeAlias = EvaluationContract | PlainFields | Literal["from_task"] | TaskCase | None
StepContract: TypeAlias = EvaluationContract | PlainFields | ContractFunction | None


def read_contracts(
    run: ContractSource,
    options: Mapping[str, object],
    output: OutputRules,
    tools: ExecutorTools,
    checks: Sequence[CustomCheck],
) -> Contracts:
    """Validates the contracts that the caller states.

    Args:
        run: The option ``contract``.
        options: The other options; ``step_contract`` and ``output_contract`` are read.
        output: The rules for the final output, without its contract.
        tools: The executor's tools, which they may name.
        checks: The caller's own checks, which they may name.

    Raises:
        ConfigurationError: One is of another type, or two state the contract of the run; a threshold has a
            name that is no metric, and no direction; or a contract needs a tool that the executor lacks, or a
            check that does not exist.
    """
    step, short = options.get("step_contract"), options.get("output_contract")
    if short is not None and not (run is None or run == FROM_TASK):
        raise ConfigurationError(
            "contract and output_contract both state the contract of the run; give contract"
        )
    case = run if isinstance(run, TaskCase) else None
    named = {
        "step_contract": validate_contract(step, "step_contract"),
        "contract": validate_contract(run, "contract") if case is None else case.contract,
        "output_contract": validate_contract(short, "output_contract"),
    }
    _check_types(case or named["contract"], named["step_contract"])
    contracts = {name: each for name, each in named.items() if isinstance(each, EvaluationContract)}
    plain = {name: _read_contract(each, name, tools, checks) for name, each in contracts.items()}
    if case is not None:  # the state of a run has it
        plain.pop("contract", None)
    return Contracts(
        cast("ContractFunction", step) if callable(step) else plain.get("step_contract"),
        replace(output, contract=plain.get("contract", plain.get("output_contract"))),
        tools=tools,
        has_case=case is not None and case.contract != FROM_TASK,
        checks=checks,
    )


def validate_contract(source: object, name: str) -> object:
    """Returns a dict as the contract of its fields, and any other value as it is.

    Raises:
        ConfigurationError: A field is not accepted; ``name`` is the option.
    """
    if not isinstance(source, Mapping):
        return source
    try:
        return EvaluationContract.model_validate(dict(source))
    except ValidationError as error:
        problems = describe_errors(error, source, list_field_paths(EvaluationContract), name)
        raise ConfigurationError(f"{name}: {'; '.join(problems)}") from None


def _read_contract(
    contract: EvaluationContract, name: str, tools: ExecutorTools, checks: Sequence[CustomCheck]
) -> PlainContract:
    plain = plain_contract(contract)
    problem = "; ".join(find_threshold_problems(contract)) or tools.find_problem(contract)
    if problem := problem or find_unknown_check(plain, checks):
        raise ConfigurationError(f"{name}.{problem}")
    return plain


def _check_types(run: object, step: object) -> None:
    if run is not None and run != FROM_TASK and not isinstance(run, TaskCase | EvaluationContract):
        raise ConfigurationError(
            f"contract is {format_repr(run, 80)}; give {name_contract(run, 'contract')}, 'from_task', or a "
            "TaskCase such as read_case_set(file).cases[0]; step_contract= takes a function"
        )
    if step is not None and not isinstance(step, EvaluationContract) and not callable(step):
        raise ConfigurationError(
            f"step_contract is {format_repr(step, 80)}; give {name_contract(step, 'step_contract')}, "
            "or a function of a step and its index that returns one"
        )


class ContractWriter(Protocol):
    """Derives checks from the text of a task or of a step."""

    def write_checks(self, text: str, /) -> task_checks.DerivedChecks | Awaitable[task_checks.DerivedChecks]:
        """Returns the checks that the text states; each quotes the words that it rests on."""
        ...


@dataclass(frozen=True, slots=True)
class RuleWriter:
    """Derives checks by the rules of ``evaluation.task_checks``, without a model.

    Attributes:
        without: The names of the checks to leave out, such as "word_count"; their words are unchecked.

    Raises:
        ConfigurationError: A name is no check.
    """

    without: Sequence[str] = ()

    def __post_init__(self) -> None:
        for name in self.without:
            if name not in CHECKS:
                raise ConfigurationError(
                    f"--without-check {name!r} names no check; `orchestrator checks TASK` prints their names"
                )

    # No coroutine: a run calls it in a thread, because a long text takes a second.
    def write_checks(self, text: str) -> task_checks.DerivedChecks:
        """Returns the checks that the text states."""
        # The first call imports the rules, which takes half a second.
        derived = task_checks.derive_checks(text)
        dropped = [check for check in derived.checks if check.check in self.without]
        return replace(
            derived,
            checks=tuple(check for check in derived.checks if check not in dropped),
            unchecked=(*derived.unchecked, *(check.quote for check in dropped if check.quote)),
        )
