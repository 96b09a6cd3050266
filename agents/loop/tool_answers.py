"""Reads the answers of tools, and writes the answers to calls whose tools did not run."""

from __future__ import annotations

import json

from langchain_core.messages import InvalidToolCall, ToolCall, ToolMessage
from langgraph.types import Command


def read_answer(output: object) -> ToolMessage | None:
    """Returns the answer in the output of a tool; None if it has none.

    The last message is the answer: a Command may hand on an earlier conversation before it.
    """
    if isinstance(output, Command) and isinstance(output.update, dict):
        output = output.update.get("messages", [])
    messages = output if isinstance(output, list) else [output]
    answers = [message for message in messages if isinstance(message, ToolMessage)]
    return format_lists(answers[-1]) if answers else None


def format_lists(answer: ToolMessage) -> ToolMessage:
    """Returns the answer with a list as JSON, unless it is a list of content blocks.

    LangChain takes a list of texts for content blocks, whose text is one word after another.
    """
    content = answer.content
    if isinstance(content, str):
        return answer
    if content and all(isinstance(item, dict) and "type" in item for item in content):
        return answer
    return answer.model_copy(update={"content": json.dumps(content, ensure_ascii=False, default=str)})


def build_answer(call: ToolCall, text: str, *, is_error: bool = True) -> ToolMessage:
    """Builds the answer to a call whose tool gave none."""
    status = "error" if is_error else "success"
    return ToolMessage(text, name=call["name"], tool_call_id=call["id"], status=status)


def describe_error(error: BaseException) -> str:
    """Tells a model that a tool raised an error."""
    return f"The tool failed: {type(error).__name__}: {error}. Mend the call, or go on without it."


def read_invalid_call(invalid: InvalidToolCall) -> tuple[ToolCall, str]:
    """Returns a call whose arguments are no JSON, with their text, and what the model is told."""
    args: dict[str, object] = {"arguments": invalid["args"]}
    call = ToolCall(name=invalid["name"] or "", args=args, id=invalid["id"] or "", type="tool_call")
    return call, f"The arguments are not valid JSON: {invalid['error'] or invalid['args']}"
