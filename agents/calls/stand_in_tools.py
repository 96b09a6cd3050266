"""Tools that answer a call in place of the tool itself, so that callbacks record it like any other call."""

from __future__ import annotations

from typing import cast

from langchain_core.messages import ToolCall, ToolMessage
from langchain_core.tools import BaseTool, ToolException
from langchain_core.tools.base import ArgsSchema

from agents.calls.tool_gate import TOOL_GATE
from agents.contracts import GateDecision


class _RefusingTool(BaseTool):
    """Answers a call with an error."""

    name: str
    description: str = "Refuses a call."
    args_schema: ArgsSchema | None = {"type": "object", "properties": {}}  # noqa: RUF012 - a pydantic field
    handle_tool_error: bool = True
    reason: str

    def _run(self, **_: object) -> str:
        raise ToolException(self.reason)


class _ReusingTool(BaseTool):
    """Answers a call with the answer of an earlier attempt."""

    name: str
    description: str = "Reuses an answer."
    args_schema: ArgsSchema | None = {"type": "object", "properties": {}}  # noqa: RUF012 - a pydantic field
    metadata: dict[str, object] | None = {TOOL_GATE: "reused"}  # noqa: RUF012
    answer: str

    def _run(self, **_: object) -> str:
        return self.answer


def refuse_call(
    name: str,
    args: dict[str, object],
    call_id: str | None,
    reason: str,
    decision: GateDecision | None = None,
) -> ToolMessage:
    """Answers a call with an error, so that callbacks record it like any other."""
    call = ToolCall(name=name, args=args, id=call_id or "", type="tool_call")
    metadata = None if decision is None else {TOOL_GATE: decision}
    return cast("ToolMessage", _RefusingTool(name=name, reason=reason, metadata=metadata).invoke(call))


def reuse_answer(call: ToolCall, text: str) -> ToolMessage:
    """Answers a call with the answer of an earlier attempt."""
    return cast("ToolMessage", _ReusingTool(name=call["name"], answer=text).invoke(call))
