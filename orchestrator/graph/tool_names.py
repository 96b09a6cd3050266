"""Checks the names of tools in the settings: a misspelt name would let a call through."""

from __future__ import annotations

from collections.abc import Collection
from difflib import get_close_matches

from agents import ExecutionAgent
from orchestrator.errors import ConfigurationError
from orchestrator.settings import Settings


def check_tool_names(settings: Settings, executor: object) -> None:
    """Checks that the executor has the named tools, and that there is a person to approve them.

    Raises:
        ConfigurationError: It has not, it calls its tools by itself, or nothing can store a question.
    """
    _check_names("approve_tools", settings.approve_tools, executor)
    _check_names("once_tools", settings.once_tools, executor)
    if settings.approve_tools and not settings.can_ask_human:
        raise ConfigurationError(
            f"{_describe('approve_tools', settings.approve_tools)}, but there is no checkpointer to store "
            "the question; give LangGraphOrchestrator one, such as checkpointer=InMemorySaver()"
        )


def _check_names(option: str, names: Collection[str], executor: object) -> None:
    if not names:
        return
    if not isinstance(executor, ExecutionAgent):
        raise ConfigurationError(
            f"{_describe(option, names)}, but {type(executor).__name__} calls its tools by itself; "
            "give an ExecutionAgent as the executor"
        )
    tools = sorted(tool.name for tool in executor.tools)
    unknown = [] if names == "all" else sorted(set(names) - set(tools))
    if unknown:
        close = get_close_matches(unknown[0], tools, n=1)
        hint = f"did you mean {close[0]!r}?" if close else _list_tools(tools)
        raise ConfigurationError(f"{option} names {unknown[0]!r}, which is no tool of the executor; {hint}")


def _list_tools(tools: Collection[str]) -> str:
    return (
        f"give any of {', '.join(tools)}" if tools else "it has none, so give it the tools, or leave this out"
    )


def _describe(option: str, names: Collection[str]) -> str:
    return f"{option} is {names if isinstance(names, str) else sorted(names)!r}"
