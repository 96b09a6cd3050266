"""Reads the options that state contracts, and the type of the output; derives the contracts of a task."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, cast

from pydantic import BaseModel, RootModel, ValidationError
from pydantic.errors import PydanticInvalidForJsonSchema

from agents.parsing.loose_json import find_json, is_finite_json, refuse_words, unwrap_fence
from agents.parsing.verdicts import find_denial
from evaluation import CheckContext, CheckOutcome, ContractError, EvaluationContract, TaskCase, task_checks
from evaluation.cases.case_files import FROM_TASK
from evaluation.checks.check_model import CheckModel
from evaluation.checks.contract_checks import FunctionCheck, NamedCheck
from evaluation.contract.contract import MATCH_MODES, ContentRule
from evaluation.contract.requirements import Contract
from evaluation.measures.metric_table import find_threshold_problems
from evaluation.sensitive.scanner import shorten
from orchestrator.errors import ConfigurationError, ContractFunctionError
from orchestrator.judging.contract_choice import ContractFunction, Contracts
from orchestrator.judging.evidence import find_unknown_check
from orchestrator.judging.executor_tools import ExecutorTools
from orchestrator.state.graph_state import DerivedContracts, OrchestratorState, find_derived_output
from orchestrator.state.plain_values import format_repr, format_text
from orchestrator.state.records import DerivedContract, Json

_MAX_PROBLEM: Final = 300
PlainFields: TypeAlias = Mapping[str, object]
"""A contract as a dict, such as ``{"must_call": ["price_of"]}``."""
ContractSource: TypeAlias = EvaluationContract | PlainFields | Literal["from_task"] | TaskCase | None
StepContract: TypeAlias = EvaluationContract | PlainFields | ContractFunction | None


def read_contracts(
    run: ContractSource,
    options: Mapping[str, object],
    tools: ExecutorTools,
    checks: Sequence[FunctionCheck],
    own_checks: Sequence[FunctionCheck],
) -> Contracts:
    """Validates the contracts that the caller states.

    Args:
        run: The option ``contract``.
        options: The other options; ``step_contract`` and ``output_type`` are read.
        tools: The executor's tools, which they may name.
        checks: The caller's own checks, which they may name.
        own_checks: The checks that the final output has to pass.

    Raises:
        ConfigurationError: One is of another type; a threshold has a name that is no metric, and no
            direction; or a contract needs a tool that the executor lacks, or a check that does not exist.
    """
    step = cast("StepContract", options.get("step_contract"))
    case = run if isinstance(run, TaskCase) else None
    stated = run if case is None else case.contract
    is_stated = stated is not None and stated != FROM_TASK
    of_run = _read_contract(stated, "contract", tools, checks) if is_stated else None
    is_checked = step is not None and not callable(step)
    named = [NamedCheck(name=check.name) for check in own_checks]
    return Contracts(
        _read_contract(step, "step_contract", tools, checks)
        if is_checked
        else cast("ContractFunction", step),
        # The state of a run has the contract of a case.
        output=of_run if case is None else None,
        tools=tools,
        own_checks=Contract.of(EvaluationContract(checks=[*named])) if named else Contract(),
        output_type=cast("type[BaseModel] | None", options.get("output_type")),
        has_case=case is not None and case.contract != FROM_TASK,
        checks=checks,
    )


def _read_contract(
    given: object, name: str, tools: ExecutorTools, checks: Sequence[FunctionCheck]
) -> Contract:
    contract = validate_contract(given, name)
    problem = "; ".join(find_threshold_problems(contract.rules)) or tools.find_problem(contract)
    if problem := problem or find_unknown_check(contract, checks):
        raise ConfigurationError(f"{name}.{problem}")
    if (mode := contract.rules.trajectory_match_mode) not in MATCH_MODES:
        given, modes = format_repr(mode, 80), ", ".join(MATCH_MODES)
        raise ConfigurationError(f"{name}.trajectory_match_mode is {given}; give one of {modes}")
    return contract


_ACCEPTED: Final = {
    "contract": "an EvaluationContract, or its fields as a dict; LangGraphOrchestrator takes 'from_task', a "
    "TaskCase such as read_case_set(file).cases[0], and a function as step_contract=, too",
    "step_contract": "an EvaluationContract, its fields as a dict, or a function of a step and its index "
    "that returns one",
}


def validate_contract(given: object, name: str) -> Contract:
    """Reads the contract of an option, an ``EvaluationContract`` or a dict of its fields.

    Raises:
        ConfigurationError: It is neither, or a field is not accepted; ``name`` is the option.
    """
    if not isinstance(given, EvaluationContract | Mapping):
        raise ConfigurationError(f"{name} is {format_repr(given, 80)}; give {_ACCEPTED[name]}")
    try:
        return Contract.read(given, name=name)
    except ContractError as error:
        raise ConfigurationError(f"{name}: {error}") from None


def list_type_checks(output_type: type[BaseModel] | None) -> tuple[FunctionCheck, ...]:
    """Returns the check that an output is the JSON text of a model; its error names the problem."""
    if output_type is None:
        return ()

    async def has_type(context: CheckContext) -> CheckOutcome:
        problem = find_type_problem(output_type, context.output)
        seen = problem or "the output is of this type"
        return CheckOutcome(problem is None, seen, f"write JSON of the type {output_type.__name__} alone")

    return (FunctionCheck(function=has_type, name="output_type", kind="format"),)


def format_output(output_type: type[BaseModel], text: str, *, is_repeated: bool = True) -> str:
    """Returns the JSON text of an output of the wanted type; any other text as it is.

    It has no defaults, which are nobody's work, and no fields that the type does not know.
    ``is_repeated`` is as for ``parse_output``.
    """
    if find_type_problem(output_type, text, is_repeated=is_repeated) is not None:
        return text
    parsed = parse_output(output_type, text)
    return parsed.model_dump_json(by_alias=True, exclude_unset=True, round_trip=True)


def parse_output(output_type: type[BaseModel], text: str, *, is_repeated: bool = True) -> BaseModel:
    """Reads an output: JSON as the whole text, in its one fenced block, or as the one object in its prose.

    Args:
        output_type: The model.
        text: The output.
        is_repeated: Whether the executor was told to write the JSON alone, as for ``refuse_words``.

    Raises:
        ValueError: It has no such JSON, or does not fit the model (pydantic's ``ValidationError``).
    """
    values, prose = find_json(unwrap_fence(text))
    if len(values) != 1:
        raise ValueError(f"Invalid JSON: the text has {len(values)} JSON values; write one alone")
    # Infinity and 1e999 are read as a number, which no other reader of JSON has to.
    if not is_finite_json(values[0]):
        raise ValueError("Invalid JSON: write finite numbers in place of NaN, Infinity and 1e999")
    parsed = output_type.model_validate_json(json.dumps(values[0]))
    if output_type.model_fields and not parsed.model_fields_set:
        raise ValueError("an object has none of the fields of its type")
    refuse_words("\n".join([prose, *_list_flags(parsed, values[0])]), is_repeated=is_repeated)
    return parsed


def _list_flags(parsed: BaseModel, value: object) -> list[str]:
    """Returns the names of the fields that the type does not know, and that are true or a denial."""
    if isinstance(parsed, RootModel) or parsed.model_extra is not None or not isinstance(value, dict):
        return []
    fields = type(parsed).model_fields
    aliases = [field.validation_alias for field in fields.values()]
    known = [*fields, *(name for each in aliases for name in getattr(each, "choices", [each]))]
    others = {name: each for name, each in value.items() if name not in known}
    return [name for name, each in others.items() if each is True or find_denial({name: each})]


def find_type_problem(output_type: type[BaseModel], text: str, *, is_repeated: bool = False) -> str | None:
    """Returns why an output is not of the wanted type, in words for the executor; None if it is."""
    try:
        parse_output(output_type, text, is_repeated=is_repeated)
    except ValidationError as error:
        errors = error.errors(include_url=False, include_input=False, include_context=False)
        problems = [": ".join(filter(None, (".".join(map(str, e["loc"])), e["msg"]))) for e in errors]
        return shorten("; ".join(problems), _MAX_PROBLEM)
    except ValueError as error:
        return shorten(format_text(error), _MAX_PROBLEM)
    except Exception as error:  # noqa: BLE001 - a validator of the model is the user's code
        return shorten(
            f"{output_type.__name__} raised {type(error).__name__}: {format_text(error)}", _MAX_PROBLEM
        )
    return None


def check_output_type(output_type: object, *, synthesis: bool | None) -> None:
    """Checks the option ``output_type``.

    Raises:
        ConfigurationError: It is not accepted, or ``synthesis`` is False, so that nobody writes the output.
    """
    if output_type is None:
        return
    if not isinstance(output_type, type) or not issubclass(output_type, BaseModel):
        raise ConfigurationError(
            f"output_type is {format_repr(output_type, 80)}; give a pydantic model, or None"
        )
    try:
        ContentRule(json_schema=output_type.model_json_schema())
    except (PydanticInvalidForJsonSchema, ValidationError) as error:
        raise ConfigurationError(
            f"output_type is {output_type.__name__}, which has no JSON Schema that can be checked "
            f"({format_repr(str(error), 200)}); give a model of JSON values"
        ) from error
    if synthesis is False:
        raise ConfigurationError(
            "synthesis is False, so that the result of the last step is the output; leave it out, "
            "or leave out output_type"
        )


@dataclass(frozen=True, slots=True)
class TaskContracts:
    """Derives contracts from texts by the rules of ``evaluation.task_checks``, without a model.

    Attributes:
        case: The case whose contract is the one of the task; None to derive it from the task.
        derives_steps: Whether steps have contracts, too; not if the caller states theirs.
    """

    case: TaskCase | None
    derives_steps: bool = True

    def derive_plan(self, task: str, steps: Sequence[str]) -> DerivedContracts:
        """Derives the contracts of the final output and of the steps.

        The only step of a plan has none of its own: it is the task, in the words of the planner.

        Raises:
            ContractFunctionError: The case is one of another task.
        """
        output = None if self.case is None else read_case(self.case, task)
        if output is None:
            output = derive_contract(task)
            phrases = [*output["unchecked"], *(self.case.unchecked if self.case else ())]
            output = {**output, "unchecked": [*dict.fromkeys(phrases)]}
        own: list[DerivedContract | None] = self.derive_steps(steps, output) if len(steps) > 1 else [None]
        return DerivedContracts(output=output, steps=own)

    def derive_steps(self, steps: Sequence[str], output: DerivedContract) -> list[DerivedContract | None]:
        """Derives the contracts of steps, without the checks and phrases of the final output."""
        is_stated = self.case is not None and self.case.contract != FROM_TASK
        if is_stated or not self.derives_steps:
            return [None] * len(steps)
        return [_drop_repeated(derive_contract(step), output) for step in steps]


def read_task_contracts(source: object, *, derives_steps: bool) -> TaskContracts | None:
    """Reads the option ``contract``; returns None if it does not ask for the contract of the task."""
    case = source if isinstance(source, TaskCase) else None
    return TaskContracts(case, derives_steps) if source == FROM_TASK or case is not None else None


def _drop_repeated(step: DerivedContract, output: DerivedContract) -> DerivedContract:
    """Returns the contract of a step without the checks that the final output has anyway."""
    repeated = [_dump_demand(check) for check in Contract.read(output["contract"]).rules.checks]
    own = Contract.read(step["contract"]).rules.checks
    checks = [check for check in own if _dump_demand(check) not in repeated]
    unchecked = [phrase for phrase in step["unchecked"] if phrase not in output["unchecked"]]
    return DerivedContract(contract=_store(checks), unchecked=unchecked)


def _dump_demand(check: CheckModel) -> dict[str, object]:
    """Returns the demand of a check, without the words that it quotes."""
    return check.model_dump(exclude={"quote"})


def _store(checks: Sequence[CheckModel]) -> dict[str, Json]:
    plain: list[Json] = [check.model_dump(mode="json", exclude_defaults=True) for check in checks]
    return {"checks": plain} if plain else {}


def read_case(case: TaskCase, task: str) -> DerivedContract | None:
    """Returns the contract that a case states; None if it has to be derived.

    Raises:
        ContractFunctionError: The case is one of another task.
    """
    if case.task.split() != task.split():
        raise ContractFunctionError(
            f"the contract is for another task ({format_repr(case.task, 200)}); "
            "give the contract of this task, or 'from_task'"
        )
    if case.contract == FROM_TASK:
        return None
    plain = cast("dict[str, Json]", case.model_dump(mode="json", exclude_unset=True)["contract"])
    return DerivedContract(contract=plain, unchecked=list(case.unchecked))


def derive_contract(task: str) -> DerivedContract:
    """Derives the contract of a task by the rules, without a run."""
    # The first call imports the rules, which takes half a second.
    derived = task_checks.derive_checks(task)
    return DerivedContract(contract=_store(derived.checks), unchecked=list(derived.unchecked))


def with_contract(state: OrchestratorState, case: TaskCase | None) -> OrchestratorState:
    """Returns the state of a fork with the contract that the case states, if it states one.

    Raises:
        ContractFunctionError: The case is one of another task.
    """
    stated = None if case is None else read_case(case, state["task"])
    if stated is None:
        return state
    derived = DerivedContracts(output=stated, steps=[None] * len(state["plan"]))
    return {**state, "declared": {**state["declared"], "derived": derived}}


def find_case_problem(state: OrchestratorState, case: TaskCase | None) -> str | None:
    """Returns why a stored run cannot go on with a case: its checks were never stored with the run.

    Raises:
        ContractFunctionError: The case is one of another task.
    """
    if case is None or state["status"] == "planning":
        return None
    stated = read_case(case, state["task"])
    if stated is None or stated == find_derived_output(state):
        return None
    return "it has another contract than contract=; leave that out, or fork the run to check it by that one"
