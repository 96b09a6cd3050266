"""Decides before each tool call whether the contracts of a run still allow it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Final

from evaluation.checks.check_model import NOT_RUN_WORDS
from evaluation.checks.kinds.tools import ToolCalls
from evaluation.contract.contract import AuditRule
from evaluation.contract.requirements import Contract
from orchestrator.state.evaluation_report import FAILURES, Report, outcomes_of
from orchestrator.state.graph_state import OrchestratorState
from orchestrator.state.records import ToolCallRecord

_WRITES: Final = "unexpected_writes"
"""The metric of the calls that write and that the contract does not expect."""


def has_run(call: ToolCallRecord) -> bool:
    """Returns whether the tool ran in a call, and may have had an effect."""
    return call.get("gate") not in (*NOT_RUN_WORDS, "reused") and call.get("effect") != "none"


@dataclass(frozen=True, slots=True)
class CallRules:
    """The rules of a contract for calls.

    Attributes:
        most: The greatest number of calls of a tool; 0 for one that is forbidden.
        exactly: The number of calls of a tool without an error.
        allowed: Names of the only tools that may run; None allows all others.
    """

    most: Mapping[str, int] = field(default_factory=dict)
    exactly: Mapping[str, int] = field(default_factory=dict)
    allowed: frozenset[str] | None = None

    @property
    def is_empty(self) -> bool:
        """Whether the contract says nothing of calls."""
        return self.allowed is None and not (self.most or self.exactly)

    def find_breach(self, name: str, made: Sequence[ToolCallRecord]) -> str | None:
        """Returns why a call must not be made after others; None if the rules do not certainly exclude it."""
        most, ran = self._find_most(name), _select_run(made, name)
        if most == 0:
            return f"Tool {name!r} is forbidden in this step."
        if most is not None and len(ran) >= most:
            return f"Tool {name!r} was called often enough ({most} at most). Go on without it."
        if name in self.exactly and sum(call["error"] is None for call in ran) >= self.exactly[name]:
            return f"Tool {name!r} was called often enough ({self.exactly[name]} exactly). Go on without it."
        return None

    def find_lasting_breach(self, made: Sequence[ToolCallRecord]) -> str | None:
        """Returns which call broke the rules for good, in words; None if later calls can still keep them."""
        for name in dict.fromkeys(call["name"] for call in made):
            number, most = len(_select_run(made, name)), self._find_most(name)
            if most is not None and number > most:
                times = "time" if number == 1 else "times"
                return f"{name!r} was called {number} {times}, and {most or 'none'} is allowed"
        return None

    def _find_most(self, name: str) -> int | None:
        return 0 if self.allowed is not None and name not in self.allowed else self.most.get(name)


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

    def find_breach(self, name: str, current: Sequence[ToolCallRecord]) -> str | None:
        """Returns why a call must not be made after the current ones of the execution; None if it may be."""
        of_step = self.of_step.find_breach(name, current)
        return of_step or self.of_run.find_breach(name, [*self.earlier, *current])


def read_call_rules(contracts: Sequence[Contract]) -> CallRules:
    """Reads the rules for calls.

    The trajectory has ``forbidden_tools``; audit rules have ``forbidden_tools`` and ``allowed_tools``, and
    only report a call if their severity is lower than "critical"; the check ``tool_calls`` has a greatest
    number.
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
    return CallRules(most, exactly, frozenset.intersection(*allowed) if allowed else None)


def _find_least(bounds: Iterable[tuple[str, int | None]]) -> dict[str, int]:
    """Returns the least bound of each tool that has one."""
    least: dict[str, int] = {}
    for name, bound in bounds:
        if bound is not None:
            least[name] = min(bound, least.get(name, bound))
    return least


def find_lasting_effect(state: OrchestratorState, report: Report, contract: Contract) -> str | None:
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


def _select_run(made: Sequence[ToolCallRecord], name: str) -> list[ToolCallRecord]:
    return [call for call in made if call["name"] == name and has_run(call)]
