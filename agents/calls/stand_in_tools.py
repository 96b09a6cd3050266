"""Tools that answer a call in place of the tool itself, so that callbacks record it like any other call."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from langchain_core.messages import InvalidToolCall, ToolCall, ToolMessage
from langchain_core.tools import BaseTool, ToolException
from langchain_core.tools.base import ArgsSchema

from agents.calls.tool_gate import TOOL_ANSWER, TOOL_GATE, TOOL_ORIGIN, Refuse, Reuse, StatedResult


class _StandIn(BaseTool):
    """Answers a call with a text, or refuses it with one."""

    name: str
    description: str = "Answers a call."
    args_schema: ArgsSchema | None = {"type": "object", "properties": {}}  # noqa: RUF012 - a pydantic field
    handle_tool_error: bool = True
    text: str
    refuses: bool = False

    def _run(self, **_: object) -> str:
        if self.refuses:
            raise ToolException(self.text)
        return self.text


def answer_call(call: ToolCall, decision: Refuse | Reuse | StatedResult) -> ToolMessage:
    """Answers a call whose tool does not run."""
    if isinstance(decision, Refuse):
        answered = {"id": call["id"], "answer": decision.answer}
        noted = {TOOL_GATE: decision.decision, TOOL_ANSWER: answered}
        return _answer(call, decision.reason, noted, refuses=True)
    if isinstance(decision, StatedResult):
        answered = {"id": call["id"], "answer": decision.answer}
        return _answer(call, decision.answer["text"], {TOOL_GATE: "stated", TOOL_ANSWER: answered})
    return _answer(call, decision.answer, {TOOL_GATE: "reused", TOOL_ORIGIN: dict(decision.origin)})


def refuse_unknown(call: ToolCall, names: list[str]) -> ToolMessage:
    """Answers a call of a tool that is not there."""
    reason = f"There is no tool {call['name']!r}; there is: {', '.join(names)}."
    return _answer(call, reason, refuses=True)


def refuse_invalid(call: InvalidToolCall) -> ToolMessage:
    """Answers a call that could not be read."""
    args: dict[str, object] = {"arguments": call["args"]}
    readable = ToolCall(name=call["name"] or "", args=args, id=call["id"] or "", type="tool_call")
    reason = f"The arguments are not valid JSON: {call['error'] or call['args']}"
    return _answer(readable, reason, refuses=True)


def _answer(
    call: ToolCall, text: str, metadata: Mapping[str, object] | None = None, *, refuses: bool = False
) -> ToolMessage:
    tool = _StandIn(name=call["name"], text=text, refuses=refuses, metadata=dict(metadata or {}))
    return cast("ToolMessage", tool.invoke({**call, "id": call["id"] or ""}))
