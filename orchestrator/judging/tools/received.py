"""Adds to recorded calls the arguments that the tools received."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from agents.calls.planned_call import ToolArguments
from orchestrator.state.plain_values import plain_json
from orchestrator.state.records import Json, StepRecord, ToolCallRecord


def add_received(records: Sequence[StepRecord], tools: Mapping[str, ToolArguments]) -> list[StepRecord]:
    """Returns the records of executions with ``received`` in each call whose tool read other arguments.

    Args:
        records: The executions.
        tools: How each tool reads its arguments, by the name of the tool.
    """
    return [
        {**record, "tool_calls": [_add_to_call(call, tools) for call in record["tool_calls"]]}
        for record in records
    ]


def _add_to_call(call: ToolCallRecord, tools: Mapping[str, ToolArguments]) -> ToolCallRecord:
    reader = tools.get(call["name"])
    if reader is None:
        return call
    received = plain_json(reader.read_values(call["args"]))
    return call if _are_same(received, call["args"]) else {**call, "received": received}


def _are_same(first: Json, second: Json) -> bool:
    # As text, since Python takes True for 1.
    return json.dumps(first, sort_keys=True) == json.dumps(second, sort_keys=True)
