"""Asks a tool after an execution, for the checks that read an effect back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool, ToolException

from evaluation.checks.kinds.probes import ProbeCheck
from evaluation.checks.registry import read_contract_checks
from orchestrator.judging.plain_contracts import list_checks
from orchestrator.state.plain_values import plain_text
from orchestrator.state.records import PlainContract

_ID: Final = "probe"


def list_probes(contract: PlainContract) -> list[ProbeCheck]:
    """Lists the checks of a contract that ask a tool."""
    stated = read_contract_checks(list_checks(contract))
    return [check for check in stated if isinstance(check, ProbeCheck)]


async def ask_tool(tool: BaseTool, args: Mapping[str, object]) -> str:
    """Returns the answer of a tool as text.

    Raises:
        ToolException: The tool says that it failed. An error of the tool itself passes.
    """
    answer: object = await tool.ainvoke(
        {"name": tool.name, "args": dict(args), "id": _ID, "type": "tool_call"}
    )
    text = plain_text(answer.text if isinstance(answer, ToolMessage) else str(answer))
    if isinstance(answer, ToolMessage) and answer.status == "error":
        raise ToolException(text)
    return text
