"""Answers of tools: read from their output, or written in place of a tool that does not run."""

from __future__ import annotations

import json
from typing import cast

from langchain_core.messages import ToolCall, ToolMessage
from langchain_core.tools import BaseTool, ToolException
from langchain_core.tools.base import ArgsSchema
from langgraph.types import Command

from agents.calls.tool_gate import TOOL_ANSWER, TOOL_GATE, TOOL_ORIGIN, StandIn


def read_answer(output: object) -> ToolMessage | None:
    """Returns the answer in the output of a tool; None if it has none.

    The last message is the answer: a Command may hand on an earlier conversation before it.
    """
    if isinstance(output, Command) and isinstance(output.update, dict):
        output = output.update.get("messages", [])
    messages = output if isinstance(output, list) else [output]
    answers = [message for message in messages if isinstance(message, ToolMessage)]
    return _format_lists(answers[-1]) if answers else None


def _format_lists(answer: ToolMessage) -> ToolMessage:
    """Returns the answer with a list as JSON, unless it is a list of content blocks.

    LangChain takes a list of texts for content blocks, whose text is one word after another.
    """
    content = answer.content
    if isinstance(content, str):
        return answer
    if content and all(isinstance(item, dict) and "type" in item for item in content):
        return answer
    return answer.model_copy(update={"content": json.dumps(content, ensure_ascii=False, default=str)})


def build_error(call: ToolCall, reason: str) -> ToolMessage:
    """Builds the answer to a call that failed."""
    return ToolMessage(reason, name=call["name"], tool_call_id=call["id"], status="error")


class _StandInTool(BaseTool):
    """Answers a call with a text, or refuses it with one; callbacks record it like any other call."""

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


def answer_call(call: ToolCall, stand_in: StandIn) -> ToolMessage:
    """Answers a call whose tool does not run."""
    noted = {
        TOOL_GATE: stand_in.decision,
        TOOL_ORIGIN: stand_in.origin,
        TOOL_ANSWER: {"id": call["id"], "answer": stand_in.answer},
    }
    is_refused = stand_in.decision not in {"reused", "stated"}
    tool = _StandInTool(name=call["name"], text=stand_in.text, refuses=is_refused, metadata=noted)
    return cast("ToolMessage", tool.invoke({**call, "id": call["id"] or ""}))
