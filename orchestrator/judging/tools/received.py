"""Adds to recorded calls the arguments that their tools received, and whether these write."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence

from agents.calls.planned_call import ToolArguments
from orchestrator.state.plain_values import plain_json
from orchestrator.state.records import Json, StepRecord, ToolCallRecord


def complete_calls(
    records: Sequence[StepRecord], tools: Mapping[str, ToolArguments], writing: Collection[str]
) -> list[StepRecord]:
    """Returns the records of executions with ``received`` and ``writes`` in their calls.

    Args:
        records: The executions.
        tools: How each tool reads its arguments, by the name of the tool.
        writing: Names of tools that are known to write.
    """
    return [
        {**record, "tool_calls": [_complete_call(call, tools, writing) for call in record["tool_calls"]]}
        for record in records
    ]


def _complete_call(
    call: ToolCallRecord, tools: Mapping[str, ToolArguments], writing: Collection[str]
) -> ToolCallRecord:
    reader = tools.get(call["name"])
    if call["name"] in writing:
        call = {**call, "writes": True}
    if reader is None:
        return call
    received = plain_json(reader.read_values(call["args"]))
    return call if _are_same(received, call["args"]) else {**call, "received": received}


def _are_same(first: Json, second: Json) -> bool:
    # As text, since Python takes True for 1.
    return json.dumps(first, sort_keys=True) == json.dumps(second, sort_keys=True)
