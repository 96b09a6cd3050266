"""OpenAI's two formats: chat messages, which many others follow, and the items of the Responses API.

Sources: https://platform.openai.com/docs/api-reference/chat,
https://platform.openai.com/docs/api-reference/responses
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, TypeGuard

from evaluation.importers.imported_message import (
    ROLES,
    Answer,
    Call,
    Importer,
    UnknownFormatError,
    as_parts,
    content_parts,
    is_marked_error,
    list_keys,
    read_arguments,
    read_call,
    read_id,
    read_object,
    read_objects,
    read_result,
    read_text,
)
from evaluation.values import JsonObject

_CONTENTS: Final = ("content", "tool_calls", "function_call", "refusal", "audio")


def open_chat_message(message: JsonObject) -> JsonObject | None:
    """Spell the role as usual, and add a refusal and a transcript to the content."""
    name = message.get("role")
    role = ROLES.get(name.strip().lower()) if isinstance(name, str) else None
    if role is None or not any(key in message for key in _CONTENTS):
        return None
    texts = (message.get("refusal"), read_object(message, "audio").get("transcript"))
    parts = [{"type": "text", "text": text} for text in texts if text not in (None, "")]
    if parts:
        return {**message, "role": role, "content": [*as_parts(message.get("content")), *parts]}
    return message if role == name else {**message, "role": role}


def read_chat_calls(message: JsonObject) -> Iterator[Call]:
    """Yield the calls in ``tool_calls``, and the one in ``function_call``.

    Raises:
        UnknownFormatError: One of these fields holds something else.
    """
    yield from map(read_call, read_objects(message, "tool_calls"))
    if message.get("function_call") is not None:
        yield read_call(read_object(message, "function_call"))


def read_chat_answers(message: JsonObject) -> Iterator[Answer]:
    """Yield the answer that a message of role ``tool`` is, unless its parts are answers."""
    is_item = str(message.get("type")).endswith("_output")
    if message.get("role") != "tool" or is_item or any(map(_is_answer, content_parts(message))):
        return
    yield Answer(
        read_result(message.get("content")),
        read_text(message.get("tool_call_id")),
        read_text(message.get("name")) or read_text(message.get("tool_name")),
        is_marked_error(message),
    )


def _is_answer(part: JsonObject) -> bool:
    kind = str(part.get("type"))
    return kind.endswith(("tool_result", "_output")) or not part.keys().isdisjoint(_RESPONSES)


_RESPONSES: Final = frozenset({"function_response", "functionResponse", "toolResult"})

OPENAI_CHAT: Final = Importer(
    "OpenAI chat",
    open_chat_message,
    read_chat_calls,
    read_chat_answers,
    frozenset({"tool_calls", "function_call", "tool_call_id", "tool_name"}),
    frozenset({"text", "refusal"}),
    frozenset({"image_url", "input_audio", "audio", "file", "video_url"}),
)


_CALLED_BY_CLIENT: Final = (
    "function_call", "custom_tool_call", "computer_call", "local_shell_call", "shell_call", "apply_patch_call"
)  # fmt: skip
_CALLED_BY_SERVER: Final = (
    "web_search_call", "file_search_call", "code_interpreter_call", "image_generation_call", "mcp_call"
)  # fmt: skip
_CALLS: Final = frozenset({*_CALLED_BY_CLIENT, *_CALLED_BY_SERVER})
_OUTPUTS: Final = frozenset(f"{name}_output" for name in _CALLED_BY_CLIENT)
_ASIDES: Final = frozenset({"reasoning", "mcp_list_tools", "mcp_approval_request", "mcp_approval_response"})
"""Items that are neither a message nor a call."""


def open_item(item: JsonObject) -> JsonObject | None:
    """Give an item that is no message its role."""
    kind = item.get("type")
    if "role" in item or not isinstance(kind, str):
        return None
    if kind in _CALLS:
        return {**item, "role": "assistant", "content": None}
    if kind in _OUTPUTS:
        return {**item, "role": "tool", "content": item.get("output")}
    return {"content": None, **item, "role": "reasoning"} if kind in _ASIDES else None


def read_item_calls(message: JsonObject) -> Iterator[Call]:
    """Yield the call that an item is, and those among the parts of a message."""
    for item in (message, *content_parts(message)):
        if is_call(item):
            yield read_item(item)


def is_call(item: object) -> TypeGuard[JsonObject]:
    """Return whether an item is a call."""
    return isinstance(item, dict) and isinstance(item.get("type"), str) and item["type"] in _CALLS


def read_item(item: JsonObject) -> Call:
    """Read a call.

    Raises:
        UnknownFormatError: A call of a function does not name it.
    """
    kind = str(item["type"])
    name = read_text(item.get("name")) or ("" if kind in _NAMED else kind.removesuffix("_call"))
    if not name:
        raise UnknownFormatError(f"has a {kind} without a name ({list_keys(item)})")
    args = next((item[key] for key in ("arguments", "input", "action") if item.get(key) is not None), None)
    return Call(name, read_arguments(args), read_id(item, "call_id"), _read_own_answer(item, kind))


_NAMED: Final = frozenset({"function_call", "custom_tool_call", "mcp_call"})


def _read_own_answer(item: JsonObject, kind: str) -> Answer | None:
    status = item.get("status")
    if kind not in _CALLED_BY_SERVER:
        # The client cannot make a call that the model did not finish.
        is_finished = status in (None, "completed", "in_progress")
        return None if is_finished else Answer("The call is incomplete.", is_error=True)
    is_error = bool(item.get("error")) or status not in (None, "completed")
    return Answer(read_result(item.get("output")), is_error=is_error)


def read_item_answers(message: JsonObject) -> Iterator[Answer]:
    """Yield the answer that an item is, and those among the parts of a message."""
    for item in (message, *content_parts(message)):
        if item.get("type") in _OUTPUTS:
            is_error = is_marked_error(item)
            yield Answer(read_result(item.get("output")), read_text(item.get("call_id")), None, is_error)


OPENAI_RESPONSES: Final = Importer(
    "OpenAI Responses",
    open_item,
    read_item_calls,
    read_item_answers,
    parts=_CALLS | _OUTPUTS | {"message", "input_text", "output_text"},
    asides=_ASIDES | {"summary_text", "input_image", "input_file", "output_audio"},
)  # fmt: skip
