"""Tools that answer a call in place of the tool itself, so that callbacks record it like any other call."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from langchain_core.messages import InvalidToolCall, ToolCall, ToolMessage
from langchain_core.tools import BaseTool, ToolException
from langchain_core.tools.base import ArgsSchema

from agents.calls.tool_gate import TOOL_ANSWER, TOOL_GATE, TOOL_ORIGIN, Refuse, Reuse, StatedResult


class _RefusingTool(BaseTool):
    """Answers a call with an error."""

    name: str
    description: str = "Refuses a call."
    args_schema: ArgsSchema | None = {"type": "object", "properties": {}}  # noqa: RUF012 - a pydantic field
    handle_tool_error: bool = True
    reason: str

    def _run(self, **_: object) -> str:
        raise ToolException(self.reason)


class _AnsweringTool(BaseTool):
    """Answers a call with the result of the same call before."""

    name: str
    description: str = "Answers a call."
    args_schema: ArgsSchema | None = {"type": "object", "properties": {}}  # noqa: RUF012 - a pydantic field
    answer: str

    def _run(self, **_: object) -> str:
        return self.answer


def answer_call(call: ToolCall, decision: Refuse | Reuse | StatedResult) -> ToolMessage:
    """Answers a call whose tool does not run."""
    if isinstance(decision, Refuse):
        answered = {"id": call["id"], "answer": decision.answer}
        return _refuse(call, decision.reason, {TOOL_GATE: decision.decision, TOOL_ANSWER: answered})
    if isinstance(decision, StatedResult):
        answered = {"id": call["id"], "answer": decision.answer}
        return _answer(call, decision.answer["text"], {TOOL_GATE: "stated", TOOL_ANSWER: answered})
    return _answer(call, decision.answer, {TOOL_GATE: "reused", TOOL_ORIGIN: dict(decision.origin)})


def refuse_unknown(call: ToolCall, names: list[str]) -> ToolMessage:
    """Answers a call of a tool that is not there."""
    return _refuse(call, f"There is no tool {call['name']!r}; there is: {', '.join(names)}.")


def refuse_invalid(call: InvalidToolCall) -> ToolMessage:
    """Answers a call that could not be read."""
    args: dict[str, object] = {"arguments": call["args"]}
    readable = ToolCall(name=call["name"] or "", args=args, id=call["id"] or "", type="tool_call")
    return _refuse(readable, f"The arguments are not valid JSON: {call['error'] or call['args']}")


def _answer(call: ToolCall, answer: str, metadata: Mapping[str, object]) -> ToolMessage:
    tool = _AnsweringTool(name=call["name"], answer=answer, metadata=dict(metadata))
    return cast("ToolMessage", tool.invoke(call))


def _refuse(call: ToolCall, reason: str, metadata: Mapping[str, object] | None = None) -> ToolMessage:
    tool = _RefusingTool(name=call["name"], reason=reason, metadata=dict(metadata) if metadata else None)
    return cast("ToolMessage", tool.invoke({**call, "id": call["id"] or ""}))
