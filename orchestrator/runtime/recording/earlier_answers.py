"""Answers to tool calls of a step that must not run again."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from agents.calls.tool_gate import describe_call
from orchestrator.runtime.recording.usage_recorder import read_recorder
from orchestrator.state.plain_values import plain_json
from orchestrator.state.records import StepRecord, ToolCallRecord


@dataclass(frozen=True, slots=True)
class EarlierAnswers:
    """Finds the answer to a call that has run in this step: ``agents.calls.tool_gate.FindAnswer``.

    Attributes:
        records: The step's earlier attempts.
        in_retries: Names of the tools that a retry does not run again with the same arguments.
        in_attempt: Names of those that the same attempt does not run again, either.
    """

    records: Sequence[StepRecord]
    in_retries: Collection[str]
    in_attempt: Collection[str]

    def __call__(self, name: str, args: object) -> str | None:
        """Returns the answer to the same call; None if the tool has to run."""
        calls = list[ToolCallRecord]()
        if name in self.in_retries:
            calls += [call for record in self.records for call in record["tool_calls"]]
        if name in self.in_attempt:
            calls += read_recorder().list_tool_calls()
        return _find_result(calls, name, args)


def _find_result(calls: Sequence[ToolCallRecord], name: str, args: object) -> str | None:
    # As a record holds them: a store has no form for infinity or a number of more than 64 bits.
    wanted = describe_call(name, plain_json(args))
    same = (call for call in calls if call["name"] == name and describe_call(name, call["args"]) == wanted)
    results = (call["result"] for call in same if call["error"] is None)
    return next((result for result in results if result is not None), None)
