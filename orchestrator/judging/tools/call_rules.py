"""Decides before each tool call whether the contracts of a run still allow it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from evaluation.checks.check_context import NOT_RUN_WORDS
from evaluation.checks.kinds.tools import ToolCalls
from orchestrator.runtime.recording.call_recorder import read_recorder
from orchestrator.state.evaluation_report import FAILURES, Report, mapping, outcomes_of
from orchestrator.state.graph_state import OrchestratorState
from orchestrator.state.records import Json, PlainContract, ToolCallRecord

_ORDERED_MODES: Final = frozenset({"exact", "in_order"})
_DEFAULT_MODE: Final = "in_order"
_WRITES: Final = "unexpected_writes"
"""The metric of the calls that write and that the contract does not expect."""


@dataclass(frozen=True, slots=True)
class CallRules:
    """The rules of a contract for calls.

    Attributes:
        forbidden: Names of tools that must not run.
        allowed: Names of the only tools that may run; None allows all others.
        most: The greatest number of calls of a tool.
        exactly: The number of calls of a tool without an error.
        before: The tools that have to be called before a tool that writes.
    """

    forbidden: frozenset[str] = frozenset()
    allowed: frozenset[str] | None = None
    most: Mapping[str, int] = field(default_factory=dict)
    exactly: Mapping[str, int] = field(default_factory=dict)
    before: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @property
    def counted(self) -> frozenset[str]:
        """The tools whose next call depends on the calls before it."""
        return frozenset([*self.most, *self.exactly, *self.before])

    def find_breach(self, name: str, made: Sequence[ToolCallRecord]) -> str | None:
        """Returns why a tool must not be called after the calls that were made; None if it may be."""
        most = self._find_most(name)
        if most == 0:
            return f"Tool {name!r} is forbidden in this step."
        ran = _select_run(made, name)
        if most is not None and len(ran) >= most:
            return f"Tool {name!r} was called often enough ({most} at most). Go on without it."
        if name in self.exactly and sum(call["error"] is None for call in ran) >= self.exactly[name]:
            return f"Tool {name!r} was called often enough ({self.exactly[name]} exactly). Go on without it."
        answered = {call["name"] for call in made if call["error"] is None and call["result"] is not None}
        missing = next((tool for tool in self.before.get(name, ()) if tool not in answered), None)
        return None if missing is None else f"Tool {name!r} has to wait: call {missing!r} first."

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

    @property
    def counted(self) -> frozenset[str]:
        """The tools whose next call depends on the calls before it."""
        return self.of_run.counted | self.of_step.counted

    def find_breach(self, name: str) -> str | None:
        """Returns why a tool must not be called now, in words for the model; None if it may be."""
        current = read_recorder().list_tool_calls()
        return self.of_step.find_breach(name, current) or self.of_run.find_breach(
            name, [*self.earlier, *current]
        )


def read_call_rules(contracts: Sequence[PlainContract], writing: Collection[str] = ()) -> CallRules:
    """Reads the rules for calls.

    The trajectory has ``forbidden_tools``; audit rules have ``forbidden_tools`` and ``allowed_tools``, and
    only report a call if their severity is lower than "critical"; the check ``tool_calls`` has a greatest
    number. An expected trajectory in order says which tools come before one that writes.

    Args:
        contracts: The contracts.
        writing: The tools that are known to write, besides ``trajectory.writing_tools``.
    """
    audits = [
        rule for contract in contracts for rule in _list_objects(mapping(contract.get("audit")), "rules")
    ]
    rules = [rule for rule in audits if rule.get("severity", "critical") == "critical"]
    sources = [*(mapping(contract.get("trajectory")) for contract in contracts), *rules]
    forbidden = frozenset[str]().union(*(_read_names(source.get("forbidden_tools")) for source in sources))
    lists = [_read_names(rule["allowed_tools"]) for rule in rules if rule.get("allowed_tools") is not None]
    checks = [check for contract in contracts for check in _list_objects(contract, "checks")]
    most, exactly = _read_bounds(checks, "max"), _read_bounds(checks, "exactly")
    return CallRules(
        forbidden | {name for name, number in exactly.items() if number == 0},
        frozenset.intersection(*lists) if lists else None,
        most,
        exactly,
        {name: tools for contract in contracts for name, tools in _read_order(contract, writing).items()},
    )


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


def _read_bounds(checks: Sequence[Mapping[str, Json]], bound: str) -> dict[str, int]:
    bounds: dict[str, int] = {}
    for check in checks:
        tool, most = check.get("tool"), check.get(bound)
        is_strict = (
            check.get("check") == ToolCalls.get_name() and check.get("severity", "critical") == "critical"
        )
        if is_strict and isinstance(tool, str) and isinstance(most, int):
            bounds[tool] = min(most, bounds.get(tool, most))
    return bounds


def _read_order(contract: PlainContract, writing: Collection[str]) -> dict[str, list[str]]:
    """Returns the tools that write and that have to come before another one, by the name of that one."""
    if contract.get("trajectory_match_mode", _DEFAULT_MODE) not in _ORDERED_MODES:
        return {}
    writers = {*writing, *_read_names(mapping(contract.get("trajectory")).get("writing_tools"))}
    before: dict[str, list[str]] = {}
    earlier: list[str] = []
    for action in _list_objects(contract, "expected_trajectory"):
        name = action.get("name")
        if not isinstance(name, str):
            continue
        if name in writers and name not in earlier:
            before.setdefault(name, [*earlier])
        # Calls that only read are not compared beside calls that write.
        if name in writers and not action.get("optional"):
            earlier.append(name)
    return before


def _select_run(made: Sequence[ToolCallRecord], name: str) -> list[ToolCallRecord]:
    """Returns the calls of a tool that ran, also those that failed."""
    idle = (*NOT_RUN_WORDS, "reused")
    return [call for call in made if call["name"] == name and call.get("gate") not in idle]


def _list_objects(source: Mapping[str, Json], field_name: str) -> list[Mapping[str, Json]]:
    # A contract from a store may have a value of any type here; its evaluation refuses it.
    items = source.get(field_name)
    return [mapping(item) for item in items] if isinstance(items, list) else []


def _read_names(value: Json) -> frozenset[str]:
    return frozenset(str(name) for name in value) if isinstance(value, list) else frozenset()
