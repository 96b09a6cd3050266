"""Tools of a step: which ones write, by their annotations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from langchain_core.tools import BaseTool

from orchestrator.state.records import Json, PlainContract

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
        if not (self.writing or self.reading) or not _expects_actions(contract):
            return contract
        if not isinstance(rules, Mapping) or any(rules.get(name) is not None for name in _LISTS):
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


def _expects_actions(contract: PlainContract) -> bool:
    return contract.get("expected_trajectory") is not None
