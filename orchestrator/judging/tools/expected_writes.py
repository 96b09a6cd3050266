"""Decides before a call of a tool that writes whether the expected actions of a contract exclude it.

The evaluation of the run decides the same about the call afterwards: its comparison is used here.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from itertools import starmap
from typing import Final

from agents.loop.effects import Breach
from evaluation import EvaluationContract
from evaluation.checks.check_model import NOT_RUN_WORDS
from evaluation.inputs.run import AgentRun, TrajectoryRules
from evaluation.inputs.run_state import convert_calls
from evaluation.metrics.trajectory.expected_steps import (
    ExpectedStep,
    expected_steps,
    fits_step,
    select_compared,
)
from evaluation.metrics.trajectory.match_result import ORDERED_MODES, explain_mismatch, find_mismatches
from evaluation.metrics.trajectory.matching import StepPairs, match_trajectory
from evaluation.nodes.prepare_evaluation import choose_mode, normalize_calls
from evaluation.results.findings import join_names
from evaluation.results.state import Action
from orchestrator.judging.disclosure import Expectations
from orchestrator.state.records import ToolCallRecord

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
