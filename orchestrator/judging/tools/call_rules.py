"""Decides before each tool call whether the contracts of a run still allow it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from typing import Final, Literal, TypeAlias

from pydantic import ValidationError

from agents.loop.effects import Breach
from evaluation import EvaluationContract
from evaluation.checks.kinds.tools import ToolCalls
from evaluation.metrics.audit_rules import find_outside
from evaluation.metrics.hosts import Domains
from evaluation.results.findings import join_names
from orchestrator.judging.disclosure import read_expectations
from orchestrator.judging.plain_contracts import list_checks
from orchestrator.judging.tools.expected_writes import ExpectedWrites, has_run, read_expected_writes
from orchestrator.state.evaluation_report import FAILURES, Report, mapping, outcomes_of
from orchestrator.state.graph_state import OrchestratorState
from orchestrator.state.records import Json, PlainContract, ToolCallRecord

_FIELDS: Final = ("expected_trajectory", "trajectory", "trajectory_match_mode", "audit")
_WRITES: Final = "unexpected_writes"
"""The metric of the calls that write and that the contract does not expect."""


CompleteCall: TypeAlias = Callable[[ToolCallRecord], ToolCallRecord]
"""Adds to a call the arguments that its tool receives."""


def _keep(call: ToolCallRecord) -> ToolCallRecord:
    return call


@dataclass(frozen=True, slots=True)
class CallRules:
    """The rules of a contract for calls.

    Attributes:
        forbidden: Names of tools that must not run.
        allowed: Names of the only tools that may run; None allows all others.
        most: The greatest number of calls of a tool.
        exactly: The number of calls of a tool without an error.
        writes: The expected calls of tools that write, of each contract that has some.
        domains: The domains that addresses in arguments may have, of each rule.
        complete: Adds to a call the arguments that its tool receives.
    """

    forbidden: frozenset[str] = frozenset()
    allowed: frozenset[str] | None = None
    most: Mapping[str, int] = field(default_factory=dict)
    exactly: Mapping[str, int] = field(default_factory=dict)
    writes: Sequence[ExpectedWrites] = ()
    domains: Sequence[Domains] = ()
    complete: CompleteCall = _keep

    def find_breach(
        self, name: str, args: Mapping[str, Json], made: Sequence[ToolCallRecord]
    ) -> Breach | None:
        """Returns why a call must not be made after others; None if the rules do not certainly exclude it."""
        planned = ToolCallRecord(name=name, args={**args}, result=None, error=None, latency_ms=None)
        call, writes = self.complete(planned), [each for each in self.writes if name in each.names]
        sentence = self._find_bound(name, made) or self._find_address(call)
        if sentence is not None:
            return Breach(sentence, sentence)
        completed = [*map(self.complete, made)] if writes else []
        breaches = (each.find_breach(call, completed) for each in writes)
        return next((breach for breach in breaches if breach is not None), None)

    def _find_bound(self, name: str, made: Sequence[ToolCallRecord]) -> str | None:
        most = self._find_most(name)
        if most == 0:
            return f"Tool {name!r} is forbidden in this step."
        ran = _select_run(made, name)
        if most is not None and len(ran) >= most:
            return f"Tool {name!r} was called often enough ({most} at most). Go on without it."
        if name in self.exactly and sum(call["error"] is None for call in ran) >= self.exactly[name]:
            return f"Tool {name!r} was called often enough ({self.exactly[name]} exactly). Go on without it."
        return None

    def _find_address(self, call: ToolCallRecord) -> str | None:
        args = call.get("received", call["args"])
        outside = [host for allowed in self.domains for host in find_outside(allowed, args)]
        reason = f"it has addresses outside the allowed domains: {join_names(outside)}"
        return f"The contract excludes this call of {call['name']!r}: {reason}." if outside else None

    def find_lasting_breach(self, made: Sequence[ToolCallRecord]) -> str | None:
        """Returns which call broke the rules for good, in words; None if later calls can still keep them."""
        for name in dict.fromkeys(call["name"] for call in made):
            number, most = len(_select_run(made, name)), self._find_most(name)
            if most is not None and number > most:
                times = "time" if number == 1 else "times"
                return f"{name!r} was called {number} {times}, and {most or 'none'} is allowed"
        return None

    def _find_most(self, name: str) -> int | None:
        is_forbidden = name in self.forbidden or (self.allowed is not None and name not in self.allowed)
        return 0 if is_forbidden else self.most.get(name)


@dataclass(frozen=True, slots=True)
class CallBounds:
    """The rules for the calls of one execution.

    Attributes:
        of_run: The rules for all calls of the run.
        of_step: The rules for the calls of the execution alone.
        earlier: The calls of the executions before, also of refused ones.
    """

    of_run: CallRules
    of_step: CallRules
    earlier: Sequence[ToolCallRecord] = ()

    def find_breach(
        self, name: str, args: Mapping[str, Json], current: Sequence[ToolCallRecord]
    ) -> Breach | None:
        """Returns why a call must not be made after the current ones of the execution; None if it may be."""
        of_step = self.of_step.find_breach(name, args, current)
        return of_step or self.of_run.find_breach(name, args, [*self.earlier, *current])


def read_call_rules(
    contracts: Sequence[PlainContract],
    writing: Collection[str] = (),
    complete: CompleteCall = _keep,
    shown: str = "",
) -> CallRules:
    """Reads the rules for calls.

    The trajectory has ``forbidden_tools``; audit rules have ``forbidden_tools`` and ``allowed_tools``, and
    only report a call if their severity is lower than "critical"; the check ``tool_calls`` has a greatest
    number. An expected trajectory excludes other calls of tools that write, and may say their order.

    Args:
        contracts: The contracts.
        writing: The tools that are known to write, for a contract that names neither these nor reading ones.
        complete: Adds to a call the arguments that its tool receives.
        shown: The task and the step: expected values that are not in it are not told to the model.
    """
    read = [_read_contract(contract) for contract in contracts]
    rules = [rule for each in read for rule in each.audit.rules if rule.severity == "critical"]
    forbidden = [each.trajectory.forbidden_tools for each in read] + [
        rule.forbidden_tools for rule in rules if rule.forbidden_tools is not None
    ]
    allowed = [frozenset(rule.allowed_tools) for rule in rules if rule.allowed_tools is not None]
    most, exactly = _read_bounds(read, "max"), _read_bounds(read, "exactly")
    hidden = [partial(read_expectations, contract, shown) for contract in contracts]
    writes = [read_expected_writes(each, writing, own) for each, own in zip(read, hidden, strict=True)]
    return CallRules(
        frozenset(chain(*forbidden, (name for name, number in exactly.items() if number == 0))),
        frozenset.intersection(*allowed) if allowed else None,
        most,
        exactly,
        [each for each in writes if each is not None],
        [Domains(rule.allowed_domains) for rule in rules if rule.allowed_domains is not None],
        complete,
    )


def _read_contract(contract: PlainContract) -> EvaluationContract:
    """Reads what a contract says of calls; nothing if it has another form, which its evaluation refuses."""
    checks = [each for each in list_checks(contract) if mapping(each).get("check") == ToolCalls.get_name()]
    named = {name: contract[name] for name in _FIELDS if name in contract}
    try:
        return EvaluationContract.model_validate({**named, "checks": checks})
    except ValidationError:
        return EvaluationContract()


def find_lasting_effect(state: OrchestratorState, report: Report, contract: PlainContract) -> str | None:
    """Returns in words which call of a run had an effect that must not be; None if there is none.

    No further attempt can undo it: a call beyond the rules, or a call that writes and that the contract does
    not expect.
    """
    made = [call for record in state["results"] for call in record["tool_calls"]]
    breach = read_call_rules([contract]).find_lasting_breach(made)
    if breach is not None and report.get("status") in FAILURES:
        return f"the run broke its contract, and no attempt can undo it: {breach}"
    writes = [outcome for outcome in outcomes_of(report) if outcome["metric"] == _WRITES]
    failed = next(
        (each for each in writes if each["passed"] is False and each["severity"] == "critical"), None
    )
    return None if failed is None else f"no attempt can undo this: {failed['reason']}"


def _read_bounds(contracts: Sequence[EvaluationContract], bound: Literal["max", "exactly"]) -> dict[str, int]:
    checks = [check for contract in contracts for check in contract.checks if isinstance(check, ToolCalls)]
    bounds: dict[str, int] = {}
    for check in checks:
        most: int | None = getattr(check, bound)
        if most is not None and check.severity == "critical":
            bounds[check.tool] = min(most, bounds.get(check.tool, most))
    return bounds


def _select_run(made: Sequence[ToolCallRecord], name: str) -> list[ToolCallRecord]:
    return [call for call in made if call["name"] == name and has_run(call)]
