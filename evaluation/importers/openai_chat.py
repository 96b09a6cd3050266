"""OpenAI's chat messages, and the many that follow them: ``tool_calls``, ``function_call``, role ``tool``.

Source: https://platform.openai.com/docs/api-reference/chat
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from evaluation.importers.imported_message import (
    ROLES,
    Answer,
    Call,
    Importer,
    as_parts,
    content_parts,
    is_marked_error,
    read_call,
    read_object,
    read_objects,
    read_result,
    read_text,
)
from evaluation.values import JsonObject

_CONTENTS: Final = ("content", "tool_calls", "function_call", "refusal", "audio")


def open_message(message: JsonObject) -> JsonObject | None:
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


def read_calls(message: JsonObject) -> Iterator[Call]:
    """Yield the calls in ``tool_calls``, and the one in ``function_call``.

    Raises:
        UnknownFormatError: One of these fields holds something else.
    """
    yield from map(read_call, read_objects(message, "tool_calls"))
    if message.get("function_call") is not None:
        yield read_call(read_object(message, "function_call"))


def read_answers(message: JsonObject) -> Iterator[Answer]:
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
    open_message,
    read_calls,
    read_answers,
    frozenset({"tool_calls", "function_call", "tool_call_id", "tool_name"}),
    frozenset({"text", "refusal"}),
    frozenset({"image_url", "input_audio", "audio", "file", "video_url"}),
)
