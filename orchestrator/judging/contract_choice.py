"""Chooses the requirements on an execution: the contract of its step, and the contract of the run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Final, Literal, TypeAlias

from agents.errors import PlanError
from evaluation.checks.custom import CustomCheck
from evaluation.checks.kinds.tools import ProbeCheck
from orchestrator.errors import ContractFunctionError
from orchestrator.judging.output import JOINED_FIELDS, OutputRules, merge_contracts, refuse_blank
from orchestrator.judging.plain_contracts import (
    OBJECTIVE,
    ContractFunction,
    call_contract_function,
    find_unknown_check,
    has_checks,
    list_checks,
    select_calls,
)
from orchestrator.judging.tools.executor_tools import ExecutorTools
from orchestrator.state.current_step import (
    current_step,
    find_derived_output,
    has_derived_output,
    is_last_step,
    is_only_step,
    list_derived,
    read_planned_contract,
)
from orchestrator.state.evaluation_report import mapping
from orchestrator.state.graph_state import OrchestratorState
from orchestrator.state.records import PlainContract, StepRecord

Synthesis: TypeAlias = Literal["always", "if_derived", "never"]

OBJECTIVE_ONLY: Final[PlainContract] = {
    "subjective_criteria": [OBJECTIVE],
    "audit": {"credentials": "output"},
}
"""The contract of a step without one: the monitor alone decides, unless the output has a credential."""
PROBE: Final = ProbeCheck.get_name()


@dataclass(frozen=True, slots=True)
class Demand:
    """A contract, and the record that it is evaluated on.

    Attributes:
        contract: The contract as plain JSON.
        is_run: Whether it holds for all calls of the run; else for the calls of the execution.
        is_stated: Whether the caller states its checks; else they are derived, or of the plan.
    """

    contract: PlainContract
    is_run: bool = False
    is_stated: bool = False


@dataclass(frozen=True, slots=True)
class Contracts:
    """The source of contracts: the caller, else the planner, else the objective alone.

    Args:
        source: One contract for each step, or a function from the text and the index of a step to a contract,
            or None to leave it to the planner.
        output: The contract of the run, whose output is the final one.
        tools: The executor's tools, which the contracts of steps may name.
        is_answer: Whether these are the contracts of the synthesis, whose output is the final one.
        synthesis: When the results of several steps become one answer: always, never, or only if a contract
            of the final output was derived from the task.
        has_case: Whether the caller states the contract of the task; else it may be derived from its words.
        checks: The caller's own checks, which the contracts of a function may name.
    """

    source: ContractFunction | PlainContract | None
    output: OutputRules
    tools: ExecutorTools
    is_answer: bool = False
    synthesis: Synthesis = "never"
    has_case: bool = False
    checks: Sequence[CustomCheck] = ()

    def list_demands(self, state: OrchestratorState) -> list[Demand]:
        """Return the requirements on the current execution, in the order of its evaluation.

        The last of several steps may have a contract of its own besides the contract of the run, which it is
        evaluated against then. Before an answer is written, which calls no tool, it has to meet what the
        contract of the run says of calls.

        Raises:
            ContractFunctionError: The function of the caller raised or returned no contract, the contract
                names a tool that the executor lacks, or the contract of the only step contradicts the
                contract of the run.
        """
        own, is_stated = self._find_own(state)
        derived = [each["contract"] for each in list_derived(state, is_output=False)]
        if not self.is_output(state):
            return [*self._list_call_demands(state), Demand(_join(own, derived), is_stated=is_stated)]
        stated, added = self.output.contract, self._list_run_additions(state)
        is_run, is_run_stated = bool(stated or added), is_stated or self._states_output_checks(state)
        # What only a plan states is evaluated by itself, because it proves no content.
        is_shared = is_only_step(state) and (is_stated or not is_run_stated)
        if own is None or self.is_answer or is_shared:
            base = own if stated is None else merge_contracts(own or {}, stated)
            contract = _join(base, [*added, *derived])
            return [Demand(contract, is_run, is_run_stated if is_run else is_stated)]
        run = [Demand(_merge_all([stated or {}, *added]), True, is_run_stated)] if is_run else []
        return [Demand(_join(own, derived), is_stated=is_stated), *run]

    def _list_call_demands(self, state: OrchestratorState) -> list[Demand]:
        contracts = [self.output.contract or {}, *_list_task_contracts(state)] if is_last_step(state) else []
        calls = select_calls(_merge_all(contracts))
        return [Demand(calls, is_run=True, is_stated=True)] if calls else []

    def list_gated(self, state: OrchestratorState) -> list[Demand]:
        """Return the demands that may forbid a call. Raises the errors of ``list_demands``."""
        run = [self.output.contract or {}, *self._list_run_additions(state)]
        return [*self.list_demands(state), *(Demand(contract, is_run=True) for contract in run)]

    def _list_run_additions(self, state: OrchestratorState) -> list[PlainContract]:
        """Return the further requirements on the run: of the task, and the caller's checks."""
        own: list[PlainContract] = [{"checks": [*self.output.checks]}] if self.output.checks else []
        return [contract for contract in (*_list_task_contracts(state), *own) if contract]

    def _find_own(self, state: OrchestratorState) -> tuple[PlainContract | None, bool]:
        """Return the contract of the step itself, and whether the caller states it, and not the planner."""
        source = self.source
        if source is not None and not callable(source):
            return source, True
        contract = None if source is None else call_contract_function(source, *reversed(current_step(state)))
        unknown = None if contract is None else find_unknown_check(contract, self.checks)
        planned = read_planned_contract(state) if contract is None else None
        if planned is not None:
            stated = (self.output.contract or {}).keys() - JOINED_FIELDS
            contract = {name: value for name, value in _limit_planned(planned).items() if name not in stated}
        if (problem := unknown or self.tools.find_problem(contract)) is not None:
            raise ContractFunctionError(f"the contract cannot be used: {problem}")
        return contract, source is not None and planned is None

    def check_plan(self, planned: Sequence[PlainContract | None] | None) -> None:
        """Check the contracts of a plan.

        Raises:
            PlanError: One of them needs a tool that the executor lacks.
        """
        for number, contract in enumerate([] if self.source is not None else planned or [], 1):
            if (problem := self.tools.find_problem(contract)) is not None:
                raise PlanError(f"step {number} of the plan: contract.{problem}")

    def list_executed(self, state: OrchestratorState, output: str) -> list[Demand]:
        """Return ``list_demands`` for an output, with our own rule for a final one; raises its errors."""
        demands = self.list_demands(state)
        # An execution that raised has no output, and its error says why.
        if not self.is_output(state) or self.output.output_type is not None or state["status"] == "failed":
            return demands
        return [replace(demand, contract=refuse_blank(demand.contract, output)) for demand in demands]

    def format_record(self, state: OrchestratorState, record: StepRecord) -> StepRecord:
        """Return the record with the text that the run would return, which the checks have to hold for."""
        if self.output.output_type is None or not self.is_output(state):
            return record
        return {**record, "result": self.output.format_output(record["result"])}

    def find_schema(self, state: OrchestratorState) -> dict[str, object] | None:
        """Return the JSON Schema of the current step's output, if it is the final output and has a type."""
        return self.output.schema if self.is_output(state) else None

    def find_unchecked(self, state: OrchestratorState) -> list[str]:
        """Return the phrases of the task that demand something of the current output and became no check."""
        stated = list_derived(state, is_output=self.is_output(state))
        return [phrase for each in stated for phrase in each["unchecked"]]

    def has_derived_checks(self, state: OrchestratorState) -> bool:
        """Return whether checks of the current output were derived from words of the task or the step."""
        return not self.has_case and bool(list_derived(state, is_output=self.is_output(state)))

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

    def is_output(self, state: OrchestratorState) -> bool:
        """Return whether the output of the current execution is the final one."""
        if self.is_answer or is_only_step(state):
            return True
        return is_last_step(state) and not self.writes_answer(state)


def _join(contract: PlainContract | None, added: Sequence[PlainContract]) -> PlainContract:
    """Return one contract; the objective is a criterion if nobody states one."""
    merged = _merge_all(added)
    if contract is not None:
        return merge_contracts(contract, merged)
    if merged.get("rubric") or merged.get("subjective_criteria"):
        return merged
    # The judge is asked about what the checks leave open, and not about an output that they refuse.
    return {**OBJECTIVE_ONLY, "judge": {"when": "if_checks_pass"}, **merged} if merged else OBJECTIVE_ONLY


def _merge_all(contracts: Sequence[PlainContract]) -> PlainContract:
    nothing: PlainContract = {}
    return reduce(merge_contracts, contracts, nothing)


def _limit_planned(contract: PlainContract) -> PlainContract:
    """Return the contract of a plan without what only the caller may state."""
    # A model must not have a tool called without its gate.
    checks = [check for check in list_checks(contract) if mapping(check).get("check") != PROBE]
    # Only a caller can say that a contract states all that matters.
    rest = {name: value for name, value in contract.items() if name != "complete"}
    return {**rest, "checks": checks} if "checks" in rest else rest


def _list_task_contracts(state: OrchestratorState) -> list[PlainContract]:
    """Return the contract that was derived from the task, without the contracts of its steps."""
    output = find_derived_output(state)
    return [] if output is None else [output["contract"]]
