"""Finds the same tool call before in a run: it was answered or denied, or may have had its effect."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from agents.calls.planned_call import PlannedCall
from agents.calls.tool_gate import Ask, StandIn, refuse_denied
from orchestrator.runtime.recording.usage_recorder import read_recorder
from orchestrator.state.current_step import ACCEPTED
from orchestrator.state.plain_values import plain_json
from orchestrator.state.records import CallOrigin, StepRecord, ToolCallRecord

_NOT_ENDED: Final = "the call did not end"


@dataclass(frozen=True, slots=True)
class _MadeCall:
    """A call of the run; ``is_refused`` says that its execution was not accepted."""

    record: ToolCallRecord
    origin: CallOrigin
    is_refused: bool = False


@dataclass(frozen=True, slots=True)
class EarlierCalls:
    """Finds the same call before: ``agents.calls.tool_gate.FindEarlier``.

    Attributes:
        records: The executions of the run before this one.
        current: This execution.
        once: Names of the tools that make the same call once in a run.
        once_in_retries: Names of the tools that do not repeat the calls of a refused execution.
    """

    records: Sequence[StepRecord]
    current: CallOrigin
    once: Collection[str]
    once_in_retries: Collection[str]

    def __call__(self, call: PlannedCall) -> StandIn | Ask | None:
        """Returns the decision of the same call before; None if the call is new."""
        same = _select_same(call, [*self._list_records(), *self._list_current()])
        for earlier in same:
            answer = earlier.record.get("answer") if earlier.record.get("gate") == "denied" else None
            if answer is not None and earlier.origin["step_index"] == self.current["step_index"]:
                return refuse_denied(answer, is_repeated=True)
        if call.name in self.once:
            return _find_answer(same) or _find_doubt(same)
        if call.name in self.once_in_retries:
            return _find_answer([earlier for earlier in same if earlier.is_refused])
        return None

    def _list_records(self) -> Iterator[_MadeCall]:
        for record in self.records:
            origin = CallOrigin(step_index=record["step_index"], attempt=record["attempt"])
            is_refused = record["status"] not in ACCEPTED
            yield from (_MadeCall(call, origin, is_refused) for call in record["tool_calls"])

    def _list_current(self) -> list[_MadeCall]:
        return [_MadeCall(call, self.current) for call in read_recorder().list_tool_calls()]


def _select_same(call: PlannedCall, earlier: Sequence[_MadeCall]) -> list[_MadeCall]:
    named = [each for each in earlier if each.record["name"] == call.name]
    # As a record holds them: a store has no form for infinity or a number of more than 64 bits.
    description = call.describe(plain_json(call.args)) if named else ""
    return [each for each in named if call.describe(each.record["args"]) == description]


def _find_answer(same: Sequence[_MadeCall]) -> StandIn | None:
    for earlier in same:
        if earlier.record["error"] is None and earlier.record["result"] is not None:
            origin = earlier.record.get("made_in", earlier.origin)
            return StandIn(earlier.record["result"], "reused", origin=dict(origin))
    return None


def _find_doubt(same: Sequence[_MadeCall]) -> Ask | None:
    """Returns why it is not known whether a call had its effect; None if it certainly had none."""
    records = [each.record for each in same if "gate" not in each.record and "effect" not in each.record]
    return Ask(records[-1]["error"] or _NOT_ENDED) if records else None
