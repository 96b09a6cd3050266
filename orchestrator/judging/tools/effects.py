"""The effects of tools: which ones write, by their annotations, and what arguments their calls received."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from langchain_core.tools import BaseTool

from agents.calls.planned_call import ToolArguments
from orchestrator.state.plain_values import plain_json
from orchestrator.state.records import Json, PlainContract, StepRecord, ToolCallRecord

_LISTS: Final = ("writing_tools", "reading_tools")


@dataclass(frozen=True, slots=True)
class ToolEffects:
    """The tools whose annotations say what they do; a tool without annotations is in neither list."""

    writing: tuple[str, ...] = ()
    reading: tuple[str, ...] = ()
    once: frozenset[str] = frozenset()
    """The tools of which each call has a further effect."""
    tools: Mapping[str, BaseTool] = field(default_factory=dict)
    """All tools by their names."""

    def add_to(self, contract: PlainContract) -> PlainContract:
        """Add both lists to a contract that expects actions and names neither writing nor reading tools."""
        rules = contract.get("trajectory") or {}
        is_open = isinstance(rules, Mapping) and all(rules.get(name) is None for name in _LISTS)
        is_asked = contract.get("expected_trajectory") is not None
        if not isinstance(rules, Mapping) or not (is_open and is_asked and (self.writing or self.reading)):
            return contract
        # Both, so that a tool without annotations counts neither as reading nor as writing.
        lists: Mapping[str, Json] = {"writing_tools": list(self.writing), "reading_tools": list(self.reading)}
        return {**contract, "trajectory": {**rules, **lists}}


def read_tool_effects(executor: object) -> ToolEffects:
    """Read the annotations of MCP in the metadata of the executor's LangChain tools.

    ``readOnlyHint: True`` says that a tool only reads; ``readOnlyHint: False`` and ``destructiveHint: True``
    say that it writes, which also decides if they contradict each other. The tools of
    ``langchain-mcp-adapters`` have them; other tools can: ``metadata={"readOnlyHint": True}``.
    """
    listed = getattr(executor, "tools", None)
    listed = listed if isinstance(listed, Sequence) else ()
    tools = [tool for tool in listed if isinstance(tool, BaseTool)]
    hints = [(tool.name, tool.metadata or {}) for tool in tools]
    # Two tools may share a name, and a record does not say which of them was called.
    writing = dict.fromkeys(name for name, metadata in hints if _is_writing(metadata))
    unclear = {name for name, metadata in hints if metadata.get("readOnlyHint") is not True}
    reading = dict.fromkeys(name for name, _ in hints if name not in unclear)
    return ToolEffects(
        tuple(writing),
        tuple(name for name in reading if name not in writing),
        frozenset(name for name, metadata in hints if _acts_each_time(metadata)),
        {tool.name: tool for tool in tools},
    )


def _acts_each_time(metadata: Mapping[str, object]) -> bool:
    # MCP: the hint means nothing for a tool that only reads.
    return metadata.get("idempotentHint") is False and metadata.get("readOnlyHint") is not True


def _is_writing(metadata: Mapping[str, object]) -> bool:
    return metadata.get("readOnlyHint") is False or metadata.get("destructiveHint") is True


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
    # As text, since Python takes True for 1.
    texts = {json.dumps(args, sort_keys=True) for args in (received, call["args"])}
    return call if len(texts) == 1 else {**call, "received": received}
