"""Builds the tools of an agent."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from langchain_core.tools import BaseTool, StructuredTool, tool


def build_tools(tools: object) -> list[BaseTool]:
    """Builds LangChain tools from tools and functions.

    Raises:
        TypeError: ``tools`` is no list, or an item is neither a tool nor a function.
        ValueError: A function cannot be a tool, because it has no docstring, say, or two tools have one name.
    """
    if tools is None:
        return []
    # A single LangChain tool is iterable too: it yields its fields.
    if isinstance(tools, BaseTool | str | Mapping) or not isinstance(tools, Iterable):
        raise TypeError(f"tools is a {type(tools).__name__}; give a list of LangChain tools or functions")
    built = [_build_tool(item) for item in tools]
    names = [tool.name for tool in built]
    # Of two, only the last would run, also if the model means the first.
    if repeated := next((name for name in names if names.count(name) > 1), None):
        raise ValueError(f'tools has "{repeated}" {names.count(repeated)} times; give each tool another name')
    return built


def has_async_only_tool(tools: Sequence[BaseTool]) -> bool:
    """Checks whether a tool can only be awaited, as the tools of MCP servers."""
    return any(isinstance(tool, StructuredTool) and tool.func is None for tool in tools)


def _build_tool(item: object) -> BaseTool:
    if isinstance(item, BaseTool):
        return item
    name = getattr(item, "__name__", f"a {type(item).__name__}")
    if isinstance(item, type) or not callable(item):
        raise TypeError(f"tools contains {name}; give LangChain tools or functions")
    try:
        return tool(item)
    except ValueError as error:  # without a docstring, say
        raise ValueError(f"tools contains {name}, which cannot be a tool: {error}") from None
