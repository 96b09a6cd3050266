"""Reads the answers of tools, and writes the answers to calls whose tools did not run."""

from __future__ import annotations

import json
import re
from asyncio import CancelledError, current_task
from collections.abc import Collection, Mapping, Sequence
from typing import Final

from langchain_core.messages import AIMessage, BaseMessage, InvalidToolCall, ToolCall, ToolMessage
from langgraph.types import Command

from agents.credentials.masking import mask_error
from agents.models.model_call import make_sendable, read_provider
from agents.parsing.loose_json import BROKEN, change_leaves, find_broken

UNKNOWN_TOOL: Final = "unknown_tool"
"""The name of the tool in a call that has none."""
_TAKING_IMAGES: Final = frozenset({"anthropic", "aws", "google_genai", "google_vertexai"})
"""The providers whose models take images and files in the answer of a tool."""
_MEDIA: Final = frozenset({
    ("image", "image/png"), ("image", "image/jpeg"), ("image", "image/gif"), ("image", "image/webp"),
    ("file", "application/pdf"),
})  # fmt: skip
"""The images and files that these providers take."""
_DATA: Final = re.compile(r"(?:data:[\w/+.-]+;base64,)?[\w+/=-]{1000,}", re.ASCII)
"""The content of an image or of a file in base64."""
_UNSENDABLE: Final = re.compile(r"[^\w-]", re.ASCII)


def read_answer(output: object) -> ToolMessage | None:
    """Returns the answer in the output of a tool; None if it has none.

    The last message is the answer: a Command may hand on an earlier conversation before it.
    """
    parts = output if isinstance(output, list) else [output]
    answers = [each for part in parts for each in _list_messages(part) if isinstance(each, ToolMessage)]
    return write_answer(answers[-1]) if answers else None


def _list_messages(part: object) -> Sequence[object]:
    update = part.update if isinstance(part, Command) else {"messages": part}
    messages = dict(update or ()).get("messages", []) if isinstance(update, Mapping | list) else []
    return messages if isinstance(messages, list) else [messages]


def read_decision(answer: ToolMessage | None) -> str | None:
    """Returns the decision of LangChain's ``HumanInTheLoopMiddleware`` that gave an answer; else None."""
    fields = {} if answer is None else answer.additional_kwargs
    is_decision = fields.get("lc_source") == "hitl_interrupt_decision"
    return str(fields.get("lc_data", {}).get("decision")) if is_decision else None


def write_answer(answer: ToolMessage, *, with_images: bool = False) -> ToolMessage:
    """Returns the answer as models take it: text as it is, and any other list as JSON.

    LangChain takes a list of texts, and of objects with a key "type", for content. An object with any further
    key is data of the tool, so that no key is lost. Most servers refuse images and files in an answer, and no
    server takes each address of one; a placeholder stands for their data.

    Args:
        answer: The answer of a tool.
        with_images: Whether the model takes images and files in an answer.
    """
    content = answer.content
    if isinstance(content, str) or (content and all(map(_is_text, content))):
        return answer
    if with_images and content and all(_is_text(part) or _is_media(part) for part in content):
        return answer
    text = json.dumps(change_leaves(content, _hide_data), ensure_ascii=False, default=str)
    return answer.model_copy(update={"content": text})


def _is_text(part: object) -> bool:
    block = _read_block(part)
    return block.keys() == {"type", "text"} and block["type"] == "text" and isinstance(block["text"], str)


def _is_media(part: object) -> bool:
    """Returns whether a part is an image or a file of a type that providers take; they refuse any other."""
    block = _read_block(part)
    if block.keys() != {"type", "base64", "mime_type"}:
        return False
    return all(isinstance(each, str) for each in block.values()) and (
        (block["type"], block["mime_type"]) in _MEDIA
    )


def _read_block(part: object) -> dict[str, object]:
    """Returns a dictionary without the id that LangChain gives to blocks; empty for another value."""
    if not isinstance(part, dict):
        return {}
    is_given = str(part.get("id")).startswith("lc_")
    return {key: part[key] for key in part if key != "id" or not is_given}


def _hide_data(value: object) -> object:
    if isinstance(value, str) and _DATA.fullmatch(value):
        return f"({len(value)} characters of data, which are not shown)"
    return value


def write_messages(
    messages: Sequence[BaseMessage], model: object, names: Collection[str]
) -> list[BaseMessage]:
    """Returns the messages of an agent as the server of its model takes them.

    Args:
        messages: The messages.
        model: The model.
        names: The names of the tools.
    """
    with_images = read_provider(model) in _TAKING_IMAGES
    written = [
        write_calls(each, names)
        if isinstance(each, AIMessage)
        else write_answer(each, with_images=with_images)
        if isinstance(each, ToolMessage)
        else each
        for each in messages
    ]
    return make_sendable(written)


def write_calls(reply: AIMessage, names: Collection[str]) -> AIMessage:
    """Returns a reply whose calls any server takes back: with a valid name, and an object as arguments.

    Args:
        reply: The reply.
        names: The names of the tools.
    """
    if not (reply.tool_calls or reply.invalid_tool_calls):
        return reply
    broken = [read_invalid_call(each)[0] for each in reply.invalid_tool_calls]
    calls = [
        call if call["name"] in names else {**call, "name": _UNSENDABLE.sub("_", call["name"])[:64]}
        for call in (*reply.tool_calls, *broken)
    ]
    # Beside its calls, OpenAI's Responses API gives them as content, which LangChain would send back.
    ids = {call["id"] for call in broken}
    kept = [part for part in reply.content if not (isinstance(part, dict) and part.get("call_id") in ids)]
    content = reply.content if isinstance(reply.content, str) else kept
    return reply.model_copy(update={"content": content, "tool_calls": calls, "invalid_tool_calls": []})


def build_answer(call: ToolCall, text: str, *, is_error: bool = True) -> ToolMessage:
    """Builds the answer to a call whose tool gave none."""
    status = "error" if is_error else "success"
    return ToolMessage(text, name=call["name"], tool_call_id=call["id"], status=status)


def name_error(error: BaseException) -> str:
    """Returns the type and the text of an error, without credentials."""
    return f"{type(error).__name__}: {mask_error(error)}"


def answer_error(call: ToolCall, error: BaseException) -> ToolMessage:
    """Tells the model that a tool raised an error."""
    return build_answer(call, f"The tool failed: {name_error(error)}. Mend the call, or go on without it.")


def describe_unused(problem: BaseException) -> str:
    """Tells a model that a tool ran, and that no store or no graph takes its answer."""
    return (
        f"The tool was called, and its answer cannot be used: {name_error(problem)[:200]}. Go on without it."
    )


def raise_outer(error: BaseException) -> None:
    """Raises an error that did not arise in a tool: an interruption, or an end of the task."""
    try:
        task = current_task()
    except RuntimeError:  # no loop runs
        task = None
    # asyncio ends a coroutine by GeneratorExit, which it also makes of one that a tool raises.
    is_end = task is not None and (
        isinstance(error, GeneratorExit) or (isinstance(error, CancelledError) and task.cancelling() > 0)
    )
    if is_end or isinstance(error, KeyboardInterrupt):
        raise error


def read_invalid_call(invalid: InvalidToolCall) -> tuple[ToolCall, str]:
    """Returns a call whose arguments are no JSON object, with their text, and the message to the model."""
    given = invalid["args"] or ""
    written = given.removeprefix(BROKEN)
    is_broken = find_broken(written) is not None
    args = {"arguments": written} if is_broken else json.loads(written, strict=False)
    name = invalid["name"] or UNKNOWN_TOOL
    call = ToolCall(name=name, args=args, id=invalid["id"] or "", type="tool_call")
    if not invalid["name"]:
        return call, f"The call was not made, since it names no tool: {written or invalid['error']}"
    if not written:
        return call, "The arguments are not valid JSON: there are none. Write all, also those with a default."
    if given == written and invalid["error"]:
        return call, f"The call was not made: {invalid['error']}"
    if not is_broken:
        return call, f"The call was not made: it was under way at the limit of tokens: {written}"
    return call, f"The arguments are not valid JSON of an object that has each key once: {written}"
