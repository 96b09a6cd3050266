"""Chooses the contract of a step: from the caller, the planner, or the objective alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from pathlib import PurePath
from typing import Final, Literal, TypeAlias, cast

from agents.errors import PlanError
from evaluation import EvaluationContract, TaskCase
from evaluation.evalset.task_case import FROM_TASK
from evaluation.metrics.metric_table import find_threshold_problems
from orchestrator.errors import ConfigurationError, ContractFunctionError
from orchestrator.judging.output import OutputRules, merge_contracts, refuse_blank
from orchestrator.judging.plain_contracts import (
    OBJECTIVE,
    ContractFunction,
    call_contract_function,
    has_checks,
    includes,
    list_criteria,
    name_contract,
    plain_contract,
)
from orchestrator.judging.report import mapping
from orchestrator.judging.tools.names import ToolNames
from orchestrator.state.current_step import current_step, read_planned_contract
from orchestrator.state.derived import has_derived_output, is_last_step, is_only_step, list_derived
from orchestrator.state.graph_state import OrchestratorState
from orchestrator.state.plain_values import format_repr
from orchestrator.state.records import Json, PlainContract, StepRecord

ContractSource: TypeAlias = EvaluationContract | ContractFunction | Literal["from_task"] | TaskCase | None
Synthesis: TypeAlias = Literal["always", "if_derived", "never"]

OBJECTIVE_ONLY: Final[PlainContract] = {
    "subjective_criteria": [OBJECTIVE],
    "audit": {"credentials": "info"},
}
"""The contract of a step without one: the monitor alone decides; credentials are only noted."""
_NO_RULES: Final = OutputRules()
_UNKNOWN_TOOLS: Final = ToolNames()


@dataclass(frozen=True, slots=True)
class Contracts:
    """The source of contracts: the caller, else the planner, else the objective alone.

    Args:
        source: One contract for all steps, or a function from the text and the index of a step to a contract,
            or None to leave it to the planner.
        output: The rules for the final output, which the only step of a plan has to meet, too.
        is_answer: Whether these are the contracts of the synthesis, whose output is the final one.
        synthesis: When the results of several steps become one answer: always, never, or only if a contract
            of the final output was derived from the task.
        tools: The executor's tools, which the contracts of steps may name.
        has_case: Whether the caller states the contract of the task; else it may be derived from its words.
    """

    source: ContractFunction | PlainContract | None
    output: OutputRules = _NO_RULES
    is_answer: bool = False
    synthesis: Synthesis = "never"
    tools: ToolNames = _UNKNOWN_TOOLS
    has_case: bool = False

    def of(self, state: OrchestratorState) -> PlainContract:
        """Return the contract of the current step as plain JSON.

        Raises:
            ContractFunctionError: The function of the caller raised or returned no contract, the contract
                names a tool that the executor lacks, or the contract of the only step contradicts the
                contract of the output.
        """
        contract = self._find_own(state)
        is_output = self._is_output(state)
        if self.output.contract is not None and is_output:
            contract = merge_contracts(contract or {}, self.output.contract)
        added = self._list_additions(state, is_output=is_output)
        if added:
            return _add_objective(added) if contract is None else merge_contracts(contract, added)
        return OBJECTIVE_ONLY if contract is None else contract

    def _find_own(self, state: OrchestratorState) -> PlainContract | None:
        """Return the contract of the step itself, from the caller or the planner."""
        source = self.source
        if source is not None and not callable(source):
            return source
        contract = None if source is None else call_contract_function(source, *reversed(current_step(state)))
        contract = _limit_planned(read_planned_contract(state)) if contract is None else contract
        if (problem := self.tools.find_problem(contract)) is not None:
            raise ContractFunctionError(f"the contract cannot be used: {problem}")
        return contract

    def review_plan(self, planned: Sequence[PlainContract | None]) -> list[str]:
        """Return what has no effect in the contracts of a plan.

        Raises:
            PlanError: One of them needs a tool that the executor lacks.
        """
        if self.source is not None:
            return []
        named = [(f"step {number} of the plan: contract", each) for number, each in enumerate(planned, 1)]
        for place, contract in named:
            if (problem := self.tools.find_problem(contract)) is not None:
                raise PlanError(f"{place}.{problem}")
        return [f"{place}.{text}" for place, contract in named for text in self.tools.list_warnings(contract)]

    def list_step_warnings(self, contract: PlainContract) -> list[str]:
        """Return what has no effect in the contract of a step, if a function built it."""
        # The planner's contracts and a contract for all steps are read when the plan is made.
        warnings = self.tools.list_warnings(contract) if callable(self.source) else []
        return [f"contract.{warning}" for warning in warnings]

    def list_stated_warnings(self) -> list[str]:
        """Return what has no effect in the contract of all steps and in the contract of the output."""
        stated = {"contract": None if callable(self.source) else self.source}
        stated["output_contract"] = self.output.contract
        return [
            f"{name}.{warning}"
            for name, contract in stated.items()
            for warning in self.tools.list_warnings(contract)
        ]

    def _list_additions(self, state: OrchestratorState, *, is_output: bool) -> PlainContract:
        """Return what is checked besides a contract: what the task states, and the caller's checks."""
        stated = [derived["contract"] for derived in list_derived(state, is_output=is_output)]
        own: PlainContract = {"checks": [*self.output.checks]} if is_output and self.output.checks else {}
        return reduce(merge_contracts, [*stated, own], {})

    def of_execution(self, state: OrchestratorState, output: str) -> PlainContract:
        """Return the contract for an output, with our own rules for it. Raises the errors of ``of``."""
        contract = self.of(state)
        if not self._is_output(state):
            return contract
        if self.output.output_type is not None:
            return contract
        # An execution that raised has no output, and its error says why.
        return contract if state["status"] == "failed" else refuse_blank(contract, output)

    def format_record(self, state: OrchestratorState, record: StepRecord) -> StepRecord:
        """Return the record with the text that the run would return, which the checks have to hold for."""
        if self.output.output_type is None or not self._is_output(state):
            return record
        return {**record, "result": self.output.format_output(record["result"])}

    def find_schema(self, state: OrchestratorState) -> dict[str, object] | None:
        """Return the JSON Schema of the current step's output, if it is the final output and has a type."""
        return self.output.schema if self._is_output(state) else None

    def find_unchecked(self, state: OrchestratorState, contract: PlainContract) -> list[str]:
        """Return the requirements on the current output that no check covers, in words.

        They are the phrases of the task that became no check, and the criteria that only a judge can score.
        """
        stated = list_derived(state, is_output=self._is_output(state))
        phrases = [phrase for each in stated for phrase in each["unchecked"]]
        return [*phrases, *list_criteria(contract)]

    def has_stated_checks(self, state: OrchestratorState, contract: PlainContract) -> bool:
        """Return whether the checks of the final output are the caller's, not only derived or of the plan.

        A step that is not the output has the checks of the plan, which nothing rests on.
        """
        if not self._is_output(state):
            return True
        if self._states_output_checks(state):
            return True
        planned = _limit_planned(read_planned_contract(state))
        if callable(self.source):
            return planned is None or not includes(contract, planned)
        return self.source is not None

    def list_derived_checks(self, state: OrchestratorState) -> list[Json]:
        """Return the checks of the current output that were derived from words of the task or the step."""
        contracts = [] if self.has_case else list_derived(state, is_output=self._is_output(state))
        return [check for each in contracts for check in _list_checks(each["contract"])]

    def _states_output_checks(self, state: OrchestratorState) -> bool:
        """Return whether the task or the rules for the output have a check. A bound on time, say, is none."""
        stated = [mapping(self.output.contract), *(_list_task_contracts(state) if self.has_case else ())]
        return bool(self.output.output_type or self.output.checks) or any(map(has_checks, stated))

    def writes_answer(self, state: OrchestratorState) -> bool:
        """Return whether the results of several steps become one answer."""
        return self.synthesis == "always" or (self.synthesis == "if_derived" and has_derived_output(state))

    def has_output_rules(self, state: OrchestratorState) -> bool:
        """Return whether the final output has to meet more than the objective."""
        return not self.output.is_empty or has_derived_output(state)

    def _is_output(self, state: OrchestratorState) -> bool:
        if self.is_answer or is_only_step(state):
            return True
        return is_last_step(state) and not self.writes_answer(state)


def _limit_planned(contract: PlainContract | None) -> PlainContract | None:
    """Return the contract of a plan, whose checks by name find only those that the caller registered."""
    if contract is None:
        return None
    # Only a caller can say that a contract states all that matters.
    rest = {name: value for name, value in contract.items() if name != "complete"}
    checks = _list_checks(contract)
    # A model must not have code of an installed package imported.
    return {**rest, "checks": [_limit_check(mapping(check)) for check in checks]} if checks else rest


def _list_checks(contract: PlainContract) -> list[Json]:
    checks = contract.get("checks")
    return checks if isinstance(checks, list) else []


def _list_task_contracts(state: OrchestratorState) -> list[PlainContract]:
    """Return the contract that was derived from the task, without the contracts of its steps."""
    derived = state["declared"].get("derived")
    output = None if derived is None else derived["output"]
    return [] if output is None else [output["contract"]]


def _limit_check(check: Mapping[str, Json]) -> dict[str, Json]:
    return {**check, "entry_points": False} if check.get("check") == "function" else dict(check)


def _add_objective(contract: PlainContract) -> PlainContract:
    """Return the contract with the objective as a criterion, unless it has criteria of its own."""
    if contract.get("rubric") or contract.get("subjective_criteria"):
        return contract
    # The judge is asked about what the checks leave open, and not about an output that they refuse.
    return {**OBJECTIVE_ONLY, "judge": {"when": "if_checks_pass"}, **contract}


def read_contracts(
    source: object, output: OutputRules = _NO_RULES, tools: ToolNames = _UNKNOWN_TOOLS
) -> Contracts:
    """Validate the option ``contract``; ``output`` has the rules for the final output.

    Raises:
        ConfigurationError: It is neither an EvaluationContract, nor a function, nor None; or a threshold has
            a name that is no metric, and no direction; or a contract needs a tool that the executor lacks.
    """
    if (problem := tools.find_problem(output.contract)) is not None:
        raise ConfigurationError(f"output_contract.{problem}")
    if isinstance(source, EvaluationContract):
        if problem := "; ".join(find_threshold_problems(source)) or tools.find_problem(source):
            raise ConfigurationError(f"contract.{problem}")
        return Contracts(plain_contract(source), output, tools=tools)
    if source == FROM_TASK or isinstance(source, TaskCase):
        has_case = isinstance(source, TaskCase) and source.contract != FROM_TASK
        return Contracts(None, output, tools=tools, has_case=has_case)
    if source is None or callable(source):
        return Contracts(cast("ContractFunction | None", source), output, tools=tools)
    # A file of `orchestrator checks --save` holds cases.
    is_file = isinstance(source, str | PurePath) and PurePath(source).suffix in (".yaml", ".yml", ".json")
    from_file = f" such as read_case_set({str(source)!r}).cases[0]" if is_file else ""
    raise ConfigurationError(
        f"contract is {format_repr(source, 80)}; give {name_contract(source, 'contract')}, "
        f"a function of a step and its index that returns one, 'from_task', or a TaskCase{from_file}"
    )
