"""Chooses the requirements on an execution: of its step and of the run; and the calls that they allow."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from pydantic import BaseModel

from evaluation import ContractError, EvaluationContract
from evaluation.checks.check_model import NOT_RUN_WORDS
from evaluation.checks.contract_checks import FunctionCheck
from evaluation.checks.kinds.tools import ToolCalls
from evaluation.contract.contract import AuditRule
from evaluation.contract.requirements import Contract, join_contracts
from evaluation.nodes.evaluate_trajectory import count_unexpected_writes
from evaluation.nodes.prepare_evaluation import choose_mode
from evaluation.texts.normal import remove_unseen
from evaluation.values import count_noun
from orchestrator.errors import ContractFunctionError
from orchestrator.judging.evidence import OBJECTIVE, find_unknown_check, list_outcomes
from orchestrator.state.graph_state import (
    OrchestratorState,
    current_step,
    find_derived_output,
    is_answer_due,
)
from orchestrator.state.plain_values import format_text
from orchestrator.state.records import DerivedContract, Report, ToolCallRecord

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
_NOT_BLANK: Final = Contract.read({"checks": [{"check": "word_count", "min": 1}]}, "own")
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
        output: The contract of the run, whose output is the final one; None if the caller states none.
        tools: The executor's tools, which the contracts of steps may name.
        own_checks: The contract of the final output by the caller's own checks and its type.
        output_type: The pydantic model that the final output is the JSON text of; None for any text.
        synthesis: When the results of several steps become one answer: always, never, or only if a contract
            of the final output was derived from the task.
        has_case: Whether the caller states the contract of the task; else it may be derived from its words.
        checks: The caller's own checks, which the contracts of a function may name.
    """

    source: ContractFunction | Contract | None
    output: Contract | None
    tools: ExecutorTools
    own_checks: Contract = _NOTHING
    output_type: type[BaseModel] | None = None
    synthesis: Synthesis = "never"
    has_case: bool = False
    checks: Sequence[FunctionCheck] = ()

    def find_schema(self, state: OrchestratorState) -> dict[str, object] | None:
        """Return the JSON Schema of the current output; None if it may be any text."""
        if self.output_type is None or not self.is_output(state):
            return None
        return self.output_type.model_json_schema()

    def list_demands(self, state: OrchestratorState, *, is_gate: bool = False) -> list[Demand]:
        """Return the requirements on the current execution, in the order of its evaluation.

        The last of several steps may have a contract of its own besides the contract of the run, which it is
        evaluated against then. Before an answer is written, which calls no tool, it has to meet what the
        contract of the run says of calls.

        Args:
            state: The state before the evaluation.
            is_gate: Whether the demands are read that may forbid a call: those of the run on every step.

        Raises:
            ContractFunctionError: The function of the caller raised or returned no contract, the contract
                names a tool that the executor lacks, a stored contract cannot be read, or the contract of the
                only step contradicts the contract of the run.
        """
        try:
            return self._list_demands(state, is_gate=is_gate)
        except ContractError as error:
            raise ContractFunctionError(f"contract or step_contract: {error}") from None

    def _list_demands(self, state: OrchestratorState, *, is_gate: bool) -> list[Demand]:
        own, derived = self._find_own(state), state["declared"].get("derived")
        is_output, index = self.is_output(state), state["current_step_index"]  # the final answer is no step
        steps = [] if derived is None else derived["steps"][index : index + 1]
        of_step = [self._read_derived(each) for each in steps if each is not None]
        of_task = [self._read_derived(derived["output"])] if derived else []
        of_run = [self.output or _NOTHING, *of_task, self.own_checks]
        if not is_output:
            calls = _select_calls([self.output, *of_task]) if _is_last_step(state) else []
            gates = [Demand(each, is_run=True) for each in of_run] if is_gate else []
            return [*calls, Demand(_add_objective([own], of_step)), *gates]
        if own is None or len(state["plan"]) == 1:
            contract = _add_objective([own, self.output], [*of_run[1:], *of_step])
            return [Demand(contract, is_run=any(not each.is_empty for each in of_run))]
        whole = join_contracts(of_run)
        rest = [] if whole.is_empty else [Demand(whole, is_run=True)]
        return [Demand(_add_objective([own], of_step)), *rest]

    def _read_derived(self, derived: DerivedContract) -> Contract:
        return Contract.read(derived["contract"], "caller" if self.has_case else "task")

    def _find_own(self, state: OrchestratorState) -> Contract | None:
        """Return the contract of the step itself, which the caller states."""
        if self.source is None or is_answer_due(state):
            return None
        if isinstance(self.source, Contract):
            return self.source
        index, step = current_step(state)
        contract = call_contract_function(self.source, step, index)
        if contract is None:
            return None
        problem = find_unknown_check(contract, self.checks) or self.tools.find_problem(contract)
        if problem is not None:
            raise ContractFunctionError(f"the contract cannot be used: {problem}")
        return contract

    def list_executed(self, state: OrchestratorState, output: str) -> list[Demand]:
        """Return ``list_demands`` for an output, and raise its errors.

        A final output in which a reader sees nothing fails, unless the contract asks for calls of tools: they
        are the work then.
        """
        demands = self.list_demands(state)
        # An execution that raised has no output, and its error says why.
        is_typed_or_ended = self.output_type is not None or state["status"] == "failed"
        if is_typed_or_ended or remove_unseen(output).strip() or not self.is_output(state):
            return demands
        return [
            each if each.contract.asks_for_calls else replace(each, contract=each.contract.join(_NOT_BLANK))
            for each in demands
        ]

    def find_unchecked(self, state: OrchestratorState) -> list[str]:
        """Return the phrases of the task that demand something of the current output and became no check."""
        derived = state["declared"].get("derived")
        if derived is None:
            return []
        index = state["current_step_index"]
        stated = [derived["output"] if self.is_output(state) else None, *derived["steps"][index : index + 1]]
        return [phrase for each in stated if each is not None for phrase in each["unchecked"]]

    def writes_answer(self, state: OrchestratorState) -> bool:
        """Return whether the results of several steps become one answer."""
        return self.synthesis == "always" or (self.synthesis == "if_derived" and _has_derived(state))

    def has_output_rules(self, state: OrchestratorState) -> bool:
        """Return whether the final output has to meet more than the objective."""
        return self.output is not None or not self.own_checks.is_empty or _has_derived(state)

    def is_output(self, state: OrchestratorState) -> bool:
        """Return whether the output of the current execution is the final one."""
        if len(state["plan"]) == 1 or is_answer_due(state):
            return True
        return _is_last_step(state) and not self.writes_answer(state)


def _is_last_step(state: OrchestratorState) -> bool:
    return state["current_step_index"] + 1 == len(state["plan"])


def _has_derived(state: OrchestratorState) -> bool:
    output = find_derived_output(state)
    return output is not None and bool(output["contract"])


def _select_calls(contracts: Sequence[Contract | None]) -> list[Demand]:
    """Return the demands of the run's contracts on calls, for the last step before an answer."""
    run = join_contracts(contracts)
    if not run.asks_for_calls:
        return []
    fields = {name: value for name, value in run.plain.items() if name in _CALL_FIELDS}
    checks = [check for check in run.rules.checks if isinstance(check, ToolCalls)]
    return [Demand(Contract.read({**fields, "checks": checks}), is_run=True)]


def _add_objective(stated: Sequence[Contract | None], added: Sequence[Contract]) -> Contract:
    """Return one contract; the objective is a criterion if nobody states one."""
    joined = join_contracts([*stated, *added])
    has_criteria = joined.rules.rubric is not None or joined.rules.subjective_criteria
    if has_criteria or any(each is not None for each in stated):
        return joined
    return OBJECTIVE_ONLY if joined.is_empty else _OPEN_ONLY.override(joined)


def call_contract_function(function: ContractFunction, step: str, index: int) -> Contract | None:
    """Return the contract of a step; None if it has none.

    Raises:
        ContractFunctionError: The function raised, or returned something else.
    """
    try:
        contract: object = function(step, index)
        return None if contract is None else Contract.read(contract)
    except ContractError as error:
        raise ContractFunctionError(f"the contract function: {error}") from None
    except (Exception, SystemExit) as error:
        # User code may raise anything; the run ends with this as its failure.
        raise ContractFunctionError(
            f"the contract function raised {type(error).__name__}: {format_text(error)}"
        ) from error


@dataclass(frozen=True, slots=True)
class CallRules:
    """The rules of a contract for calls.

    Attributes:
        most: The greatest number of calls of a tool; 0 for one that is forbidden.
        exactly: The number of calls of a tool without an error.
        allowed: Names of the only tools that may run; None allows all others.
        acting: Tools that the contract states to act: their refused calls count for no number.
        expecting: Contracts that allow no calls of tools that act beyond the expected ones.
    """

    most: Mapping[str, int] = field(default_factory=dict)
    exactly: Mapping[str, int] = field(default_factory=dict)
    allowed: frozenset[str] | None = None
    acting: frozenset[str] = frozenset()
    expecting: Sequence[EvaluationContract] = ()

    @property
    def is_empty(self) -> bool:
        """Whether the contract says nothing of calls."""
        return self.allowed is None and not (self.most or self.exactly or self.expecting)

    def find_breach(self, call: ToolCallRecord, made: Sequence[ToolCallRecord]) -> str | None:
        """Returns why a call must not be made after others; None if the rules do not certainly exclude it."""
        name = call["name"]
        most, ran = self._find_most(name), _select_run(made, name)
        open_ = [call for call in ran if call.get("outcome") != "refused"]
        if most == 0:
            return f"Tool {name!r} is forbidden in this step."
        # A call whose effect is unknown may have used up the number.
        if most is not None and len(open_ if name in self.acting else ran) >= most:
            return f"Tool {name!r} was called often enough ({most} at most). Go on without it."
        succeeded = [call for call in open_ if call["error"] is None or not _has_effect(call)]
        if name in self.exactly and len(succeeded) >= self.exactly[name]:
            return f"Tool {name!r} was called often enough ({self.exactly[name]} exactly). Go on without it."
        # The sentence does not tell the expected arguments, which are the answer.
        if any(_is_unexpected(call, made, each) for each in self.expecting):
            return (
                f"The contract expects no such call of {name!r}. Correct its arguments, or go on without it."
            )
        return None

    def find_lasting_breach(self, made: Sequence[ToolCallRecord]) -> str | None:
        """Returns which call broke the rules for good, in words; None if later calls can still keep them."""
        for name in dict.fromkeys(call["name"] for call in made):
            most, ran = self._find_most(name), _select_run(made, name)
            number = sum(map(_has_effect, ran)) if most else len(ran)
            if most is not None and number > most:
                return f"{name!r} was called {count_noun(number, 'time')}, and {most or 'none'} is allowed"
        return None

    def _find_most(self, name: str) -> int | None:
        return 0 if self.allowed is not None and name not in self.allowed else self.most.get(name)


def read_call_rules(contracts: Sequence[Contract]) -> CallRules:
    """Reads the rules for calls.

    The trajectory has ``forbidden_tools``; audit rules have ``forbidden_tools`` and ``allowed_tools``, and
    only report a call if their severity is lower than "critical"; the check ``tool_calls`` has a greatest
    number; ``expected_trajectory`` has the only calls of the tools in ``trajectory.acting_tools``, and in the
    modes "exact" and "subset" of any tool that acts by the caller's word.
    """
    stated = [each for contract in contracts for each in contract.requirements]
    demands = [each.check for each in stated if each.severity == "critical"]
    rules = [each for each in demands if isinstance(each, AuditRule)]
    checks = [each for each in demands if isinstance(each, ToolCalls)]
    lists = [*(each.rules.trajectory.forbidden_tools for each in contracts)]
    lists += [rule.forbidden_tools for rule in rules if rule.forbidden_tools is not None]
    allowed = [frozenset(rule.allowed_tools) for rule in rules if rule.allowed_tools is not None]
    exactly = _find_least((check.tool, check.exactly) for check in checks)
    none = [*chain(*lists), *(name for name, number in exactly.items() if number == 0)]
    most = _find_least((*((check.tool, check.max) for check in checks), *((name, 0) for name in none)))
    acting = frozenset(chain(*(each.rules.trajectory.acting_tools or () for each in contracts)))
    only = frozenset.intersection(*allowed) if allowed else None
    expecting = [each.rules for each in contracts if each.rules.expected_trajectory is not None]
    # The other modes allow further calls than the expected ones.
    closed = [
        each for each in expecting if each.trajectory.acting_tools or choose_mode(each) in ("exact", "subset")
    ]
    return CallRules(most, exactly, only, acting, closed)


def _is_unexpected(
    call: ToolCallRecord, made: Sequence[ToolCallRecord], contract: EvaluationContract
) -> bool:
    """Returns whether a call would act beyond the calls that a contract expects."""
    stated = contract.trajectory.acting_tools
    acting = [call["name"]] if stated is None and call.get("writes") else stated or ()
    if call["name"] not in acting:
        return False
    before, after = (count_unexpected_writes(each, contract, acting) for each in (made, [*made, call]))
    return after > before


def _find_least(bounds: Iterable[tuple[str, int | None]]) -> dict[str, int]:
    """Returns the least bound of each tool that has one."""
    stated = [(name, bound) for name, bound in bounds if bound is not None]
    return {name: min(bound for other, bound in stated if other == name) for name, _ in stated}


def find_lasting_effect(state: OrchestratorState, report: Report, contract: Contract) -> str | None:
    """Returns in words which call of a refused run had an effect that must not be; None if there is none.

    No further attempt can undo it: a call beyond the rules, or a call that writes and that the contract does
    not expect.
    """
    made = [call for record in state["results"] for call in record["tool_calls"]]
    breach = read_call_rules([contract]).find_lasting_breach(made)
    if breach is not None:
        return f"the run broke its contract, and no attempt can undo it: {breach}"
    writes = (each for each in list_outcomes(report) if each["metric"] == "unexpected_writes")
    failed = [each for each in writes if each["passed"] is False and each["severity"] == "critical"]
    return f"no attempt can undo this: {failed[0]['reason']}" if failed else None


def _has_effect(call: ToolCallRecord) -> bool:
    """Returns whether a call that ran counts for sure: of a tool that acts, effects alone do."""
    return "writes" not in call or call.get("outcome") not in ("refused", "unknown")


def _select_run(made: Sequence[ToolCallRecord], name: str) -> list[ToolCallRecord]:
    """Selects the calls in which the tool of this name ran, and may have had an effect."""
    return [
        call for call in made if call["name"] == name and call.get("gate") not in (*NOT_RUN_WORDS, "reused")
    ]
