"""Reads the output of a tool as the model and a record read it."""

from __future__ import annotations

import json

from langchain_core.messages import ToolCall, ToolMessage
from langgraph.types import Command


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
    if isinstance(content, str) or (content and all(_is_block(item) for item in content)):
        return answer
    return answer.model_copy(update={"content": json.dumps(content, ensure_ascii=False, default=str)})


def _is_block(item: object) -> bool:
    return isinstance(item, dict) and "type" in item


def build_error(call: ToolCall, reason: str) -> ToolMessage:
    """Builds the answer to a call that failed."""
    return ToolMessage(reason, name=call["name"], tool_call_id=call["id"], status="error")
