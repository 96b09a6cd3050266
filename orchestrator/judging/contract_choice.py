"""Chooses the requirements on an execution: the contract of its step, and the contract of the run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, cast

from evaluation import ContractError, EvaluationContract
from evaluation.checks.contract_checks import FunctionCheck
from evaluation.checks.kinds.tools import ToolCalls
from evaluation.contract.requirements import Contract
from orchestrator.errors import ContractFunctionError
from orchestrator.judging.evidence import OBJECTIVE, find_unknown_check
from orchestrator.judging.output import OutputRules, refuse_blank
from orchestrator.state.current_step import (
    current_step,
    find_derived_output,
    has_derived_output,
    is_last_step,
    is_only_step,
    list_derived,
)
from orchestrator.state.graph_state import OrchestratorState
from orchestrator.state.plain_values import format_repr, format_text
from orchestrator.state.records import Attempt, DerivedContract

if TYPE_CHECKING:
    from orchestrator.judging.executor_tools import ExecutorTools  # LangGraph is slow to import

ContractFunction: TypeAlias = Callable[[str, int], EvaluationContract | Mapping[str, object] | None]

Synthesis: TypeAlias = Literal["always", "if_derived", "never"]

OBJECTIVE_ONLY: Final = Contract.read(
    {"subjective_criteria": [OBJECTIVE], "audit": {"credentials": "output"}}, "own"
)
"""The contract of a step without one: the monitor alone decides, unless the output has a credential."""
_OPEN_ONLY: Final = OBJECTIVE_ONLY.join(Contract.read({"judge": {"when": "if_checks_pass"}}, "own"))
"""The judge is asked about what the checks leave open, and not about an output that they refuse."""
_NOTHING: Final = Contract()
_CALL_FIELDS: Final = frozenset({"must_call", "expected_trajectory", "trajectory_match_mode", "trajectory"})


@dataclass(frozen=True, slots=True)
class Demand:
    """A contract, and the record that it is evaluated on.

    Attributes:
        contract: The contract.
        is_run: Whether it holds for all calls of the run; else for the calls of the execution.
    """

    contract: Contract
    is_run: bool = False


@dataclass(frozen=True, slots=True)
class Contracts:
    """The source of contracts: the caller, else the objective alone.

    Args:
        source: One contract for each step, or a function from the text and the index of a step to a contract,
            or None for steps without one.
        output: The contract of the run, whose output is the final one.
        tools: The executor's tools, which the contracts of steps may name.
        is_answer: Whether these are the contracts of the synthesis, whose output is the final one.
        synthesis: When the results of several steps become one answer: always, never, or only if a contract
            of the final output was derived from the task.
        has_case: Whether the caller states the contract of the task; else it may be derived from its words.
        checks: The caller's own checks, which the contracts of a function may name.
    """

    source: ContractFunction | Contract | None
    output: OutputRules
    tools: ExecutorTools
    is_answer: bool = False
    synthesis: Synthesis = "never"
    has_case: bool = False
    checks: Sequence[FunctionCheck] = ()

    def list_demands(self, state: OrchestratorState) -> list[Demand]:
        """Return the requirements on the current execution, in the order of its evaluation.

        The last of several steps may have a contract of its own besides the contract of the run, which it is
        evaluated against then. Before an answer is written, which calls no tool, it has to meet what the
        contract of the run says of calls.

        Raises:
            ContractFunctionError: The function of the caller raised or returned no contract, the contract
                names a tool that the executor lacks, a stored contract cannot be read, or the contract of the
                only step contradicts the contract of the run.
        """
        try:
            return self._list_demands(state)
        except ContractError as error:
            raise ContractFunctionError(f"contract or step_contract: {error}") from None

    def _list_demands(self, state: OrchestratorState) -> list[Demand]:
        own = self._find_own(state)
        of_step = [self._read_derived(each) for each in list_derived(state, is_output=False)]
        if not self.is_output(state):
            return [*self._list_call_demands(state), Demand(_add_objective(own, of_step))]
        stated, added = self.output.contract, self._list_run_additions(state)
        of_run = reduce(Contract.join, added, stated or _NOTHING)
        if own is None or self.is_answer or is_only_step(state):
            both = [each for each in (own, stated) if each is not None]
            base = reduce(Contract.join, both) if both else None
            return [Demand(_add_objective(base, [*added, *of_step]), not of_run.is_empty)]
        run = [] if of_run.is_empty else [Demand(of_run, is_run=True)]
        return [Demand(_add_objective(own, of_step)), *run]

    def _list_call_demands(self, state: OrchestratorState) -> list[Demand]:
        """Return what the contract of the run says of calls, for the last step before an answer."""
        of_run = [self.output.contract or _NOTHING, *self._read_task_contracts(state)]
        run = reduce(Contract.join, of_run) if is_last_step(state) else _NOTHING
        if not run.asks_for_calls:
            return []
        fields = {name: value for name, value in run.plain.items() if name in _CALL_FIELDS}
        checks = [check for check in run.rules.checks if isinstance(check, ToolCalls)]
        calls = Contract.read({**fields, "checks": checks})
        return [Demand(calls, is_run=True)]

    def list_gated(self, state: OrchestratorState) -> list[Demand]:
        """Return the demands that may forbid a call. Raises the errors of ``list_demands``."""
        demands = self.list_demands(state)
        of_run = [self.output.contract or _NOTHING, *self._list_run_additions(state)]
        return [*demands, *(Demand(each, is_run=True) for each in of_run)]

    def _list_run_additions(self, state: OrchestratorState) -> list[Contract]:
        """Return the further requirements on the run: of the task, and the caller's checks."""
        return [*self._read_task_contracts(state), self.output.own_checks]

    def _read_task_contracts(self, state: OrchestratorState) -> list[Contract]:
        """Return the contract of the task, without those of its steps."""
        output = find_derived_output(state)
        return [] if output is None else [self._read_derived(output)]

    def _read_derived(self, derived: DerivedContract) -> Contract:
        return Contract.read(derived["contract"], "caller" if self.has_case else "task")

    def _find_own(self, state: OrchestratorState) -> Contract | None:
        """Return the contract of the step itself, which the caller states."""
        if self.source is None or isinstance(self.source, Contract):
            return self.source
        contract = call_contract_function(self.source, *reversed(current_step(state)))
        if contract is None:
            return None
        problem = find_unknown_check(contract, self.checks) or self.tools.find_problem(contract)
        if problem is not None:
            raise ContractFunctionError(f"the contract cannot be used: {problem}")
        return contract

    def list_executed(self, state: OrchestratorState, output: str) -> list[Demand]:
        """Return ``list_demands`` for an output, with our own rule for a final one; raises its errors."""
        demands = self.list_demands(state)
        # An execution that raised has no output, and its error says why.
        if not self.is_output(state) or self.output.output_type is not None or state["status"] == "failed":
            return demands
        return [replace(demand, contract=refuse_blank(demand.contract, output)) for demand in demands]

    def format_record(self, state: OrchestratorState, record: Attempt) -> Attempt:
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


def _add_objective(contract: Contract | None, added: Sequence[Contract]) -> Contract:
    """Return one contract; the objective is a criterion if nobody states one."""
    merged = reduce(Contract.join, added, _NOTHING)
    if contract is not None:
        return contract.join(merged)
    if merged.rules.rubric is not None or merged.rules.subjective_criteria:
        return merged
    return OBJECTIVE_ONLY if merged.is_empty else _OPEN_ONLY.override(merged)


def call_contract_function(function: ContractFunction, step: object, index: object) -> Contract | None:
    """Return the contract of a step; None if it has none.

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
    if not isinstance(contract, EvaluationContract | Mapping):
        raise ContractFunctionError(
            f"the contract function returned {format_repr(contract, 80)}; "
            "return an EvaluationContract or None"
        )
    try:
        return Contract.read(contract)
    except ContractError as error:
        raise ContractFunctionError(f"the contract function: {error}") from None
