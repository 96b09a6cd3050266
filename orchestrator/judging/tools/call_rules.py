"""Decides before each tool call whether the contracts of a run still allow it.

Whether the expected actions exclude a call of a tool that writes, the evaluation of the run decides
afterwards, too: its comparison is used here.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, starmap
from typing import Final, Literal, TypeAlias

from agents.loop.effects import Breach
from evaluation import EvaluationContract
from evaluation.checks.check_model import NOT_RUN_WORDS
from evaluation.checks.kinds.tools import ToolCalls
from evaluation.contract.contract import AuditRule
from evaluation.contract.requirements import Contract
from evaluation.contract.run import AgentRun, TrajectoryRules
from evaluation.contract.run_state import convert_calls
from evaluation.measures.trajectory.expected_steps import (
    ExpectedStep,
    expected_steps,
    fits_step,
    select_compared,
)
from evaluation.measures.trajectory.match_result import ORDERED_MODES, explain_mismatch, find_mismatches
from evaluation.measures.trajectory.matching import StepPairs, match_trajectory
from evaluation.nodes.prepare_evaluation import choose_mode, normalize_calls
from evaluation.report.metric_groups import join_names
from evaluation.report.state import Action
from orchestrator.judging.feedback import Expectations, read_expectations
from orchestrator.state.evaluation_report import FAILURES, Report, outcomes_of
from orchestrator.state.graph_state import OrchestratorState
from orchestrator.state.records import Json, ToolCallRecord

_MOST: Final = 5
"""Most differences that a sentence names."""


@dataclass(frozen=True, slots=True)
class ExpectedWrites:
    """The calls of writing tools that a contract expects; any other one fails the run.

    Attributes:
        expected: The expected actions.
        mode: The match mode.
        rules: How actions are compared.
        read_hidden: Reads what no model is told.
        awaited: The places of the required actions that certainly write, if the mode asks for their order.
    """

    expected: Sequence[ExpectedStep]
    mode: str
    rules: TrajectoryRules
    read_hidden: Callable[[], Expectations]
    awaited: Sequence[int] = ()

    @property
    def names(self) -> frozenset[str]:
        """The tools that write."""
        return frozenset(self.rules.acting_tools or ())

    def find_breach(self, call: ToolCallRecord, made: Sequence[ToolCallRecord]) -> Breach | None:
        """Returns why a call must not be made after others; None if it may be an expected one."""
        writes = [each for each in made if each["name"] in self.names]
        awaited = self._find_awaited(call, [each for each in writes if each["result"] is not None])
        if awaited is not None:
            other = f"{awaited!r} with other arguments" if awaited == call["name"] else repr(awaited)
            sentence = f"Tool {call['name']!r} has to wait: call {other} first."
            return Breach(sentence, sentence)
        return self._find_excess(call, [each for each in writes if has_run(each)])

    def _find_excess(self, call: ToolCallRecord, made: Sequence[ToolCallRecord]) -> Breach | None:
        """Returns why a call is none of the expected ones that are left; None if it may be one.

        It is assumed to succeed, and so is each call before it that has not ended.
        """
        actions = _read_actions([*map(_assume_success, [*made, call])], self.rules)
        before, after = (
            match_trajectory(each, self.expected, self.mode, self.rules).unexpected_writes
            for each in (actions[:-1], actions)
        )
        return self._describe(actions) if len(after) > len(before) else None

    def _find_awaited(self, call: ToolCallRecord, made: Sequence[ToolCallRecord]) -> str | None:
        """Returns the name of an expected action that has to be answered before a call; None if none has."""
        if not self.awaited:
            return None
        *actions, action = _read_actions([*made, _assume_success(call)], self.rules)
        fitting = [place for place, each in enumerate(self.expected) if fits_step(each, action, self.rules)]
        done = StepPairs.of(self.expected, actions, self.rules).assigned
        missing = [[at for at in self.awaited if at < place and at not in done] for place in fitting]
        # An optional action may stand anywhere in mode in_order.
        is_certain = all(missing) and not any(self.expected[place].optional for place in fitting)
        return self.expected[missing[0][0]].name if missing and is_certain else None

    def _describe(self, actions: Sequence[Action]) -> Breach:
        *made, call = actions
        steps = select_compared(made, self.expected, self.rules).steps
        done = StepPairs.of(steps, made, self.rules).assigned
        left = [pattern for at, step in enumerate(steps) if at not in done for pattern in step.patterns]
        mismatches = find_mismatches([ExpectedStep(tuple(left))], [call], self.rules)[:_MOST]
        if not mismatches:
            finding = f"The contract expects no further call of {call['name']!r}. Go on without it."
            return Breach(finding, finding)
        finding = f"The contract excludes this call: {'; '.join(starmap(explain_mismatch, mismatches))}."
        wanted = "\n".join(str(difference.expected) for _, difference in mismatches)
        if self.read_hidden().mask(wanted) == wanted:
            return Breach(finding, finding)
        names = join_names(each.path.removeprefix("/").partition("/")[0] for _, each in mismatches)
        return Breach(f"The contract excludes these arguments of {call['name']!r}: {names}.", finding)


def read_expected_writes(
    contract: EvaluationContract, writing: Collection[str], read_hidden: Callable[[], Expectations]
) -> ExpectedWrites | None:
    """Reads the calls of writing tools that a contract expects; None if it permits any.

    Args:
        contract: The contract.
        writing: The tools that write if the contract itself names neither writing nor reading tools.
        read_hidden: Reads what no model is told.
    """
    rules = contract.trajectory
    if not rules.names_effects:
        rules = rules.model_copy(update={"acting_tools": [*writing], "reading_tools": []})
        contract = contract.model_copy(update={"trajectory": rules})
    mode = choose_mode(contract)
    if contract.expected_trajectory is None or not rules.acting_tools:
        return None
    steps = expected_steps(each.model_dump(exclude_unset=True) for each in contract.expected_trajectory)
    awaited = [at for at, step in enumerate(steps) if _is_required_write(step, rules)]
    return ExpectedWrites(steps, mode, rules, read_hidden, awaited if mode in ORDERED_MODES else ())


def _is_required_write(step: ExpectedStep, rules: TrajectoryRules) -> bool:
    names = {str(each.name) for each in step.patterns}
    return not step.optional and names.issubset(rules.acting_tools or ()) and all(map(rules.compares, names))


def _read_actions(calls: Sequence[ToolCallRecord], rules: TrajectoryRules) -> list[Action]:
    """Returns calls as the evaluation compares them."""
    run = AgentRun.model_validate(convert_calls(calls))
    return normalize_calls(run, rules)


def has_run(call: ToolCallRecord) -> bool:
    """Returns whether the tool ran in a call, and may have had an effect."""
    return call.get("gate") not in (*NOT_RUN_WORDS, "reused") and call.get("effect") != "none"


def _assume_success(call: ToolCallRecord) -> ToolCallRecord:
    is_open = call["result"] is None and call["error"] is None
    return {**call, "result": "ok", "outcome": "acted"} if is_open else call


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
        complete: Adds to a call the arguments that its tool receives.
    """

    forbidden: frozenset[str] = frozenset()
    allowed: frozenset[str] | None = None
    most: Mapping[str, int] = field(default_factory=dict)
    exactly: Mapping[str, int] = field(default_factory=dict)
    writes: Sequence[ExpectedWrites] = ()
    complete: CompleteCall = _keep

    @property
    def is_empty(self) -> bool:
        """Whether the contract says nothing of calls."""
        bounds = self.forbidden, self.most, self.exactly, self.writes
        return self.allowed is None and not any(bounds)

    def find_breach(
        self, name: str, args: Mapping[str, Json], made: Sequence[ToolCallRecord]
    ) -> Breach | None:
        """Returns why a call must not be made after others; None if the rules do not certainly exclude it."""
        planned = ToolCallRecord(name=name, args={**args}, result=None, error=None, latency_ms=None)
        call, writes = self.complete(planned), [each for each in self.writes if name in each.names]
        sentence = self._find_bound(name, made)
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
    contracts: Sequence[Contract],
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
    stated = [each for contract in contracts for each in contract.requirements]
    demands = [each for each in stated if each.severity == "critical"]
    rules = [each.check for each in demands if isinstance(each.check, AuditRule)]
    forbidden = [each.rules.trajectory.forbidden_tools for each in contracts] + [
        rule.forbidden_tools for rule in rules if rule.forbidden_tools is not None
    ]
    allowed = [frozenset(rule.allowed_tools) for rule in rules if rule.allowed_tools is not None]
    checks = [each.check for each in demands if isinstance(each.check, ToolCalls)]
    most, exactly = _read_bounds(checks, "max"), _read_bounds(checks, "exactly")
    hidden = [(each.rules, partial(read_expectations, each, shown)) for each in contracts]
    writes = [read_expected_writes(rules, writing, own) for rules, own in hidden]
    return CallRules(
        frozenset(chain(*forbidden, (name for name, number in exactly.items() if number == 0))),
        frozenset.intersection(*allowed) if allowed else None,
        most,
        exactly,
        [each for each in writes if each is not None],
        complete,
    )


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


def _read_bounds(checks: Sequence[ToolCalls], bound: Literal["max", "exactly"]) -> dict[str, int]:
    bounds: dict[str, int] = {}
    for check in checks:
        most: int | None = getattr(check, bound)
        if most is not None:
            bounds[check.tool] = min(most, bounds.get(check.tool, most))
    return bounds


def _select_run(made: Sequence[ToolCallRecord], name: str) -> list[ToolCallRecord]:
    return [call for call in made if call["name"] == name and has_run(call)]
