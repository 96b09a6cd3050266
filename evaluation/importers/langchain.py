"""LangChain's messages, as objects or as their dumps: ``model_dump``, ``messages_to_dict`` and ``dumpd``.

Read by their published form instead of ``convert_to_messages``, which raises for arguments that are no JSON
and for calls without an id, and finds no call in the parts of a content.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from pydantic import BaseModel
from pydantic_core import to_jsonable_python

from evaluation.importers.imported_message import (
    ROLES,
    Answer,
    Call,
    Importer,
    content_parts,
    is_marked_error,
    read_call,
    read_object,
    read_objects,
    read_result,
    read_text,
)
from evaluation.importers.openai import is_call, read_chat_calls, read_item
from evaluation.values import JsonObject, as_object

_NOT_MADE: Final = Answer("The arguments could not be read.", is_error=True)
"""The answer to an invalid call: LangChain's agents do not make it."""
_CALLS: Final = frozenset({"tool_call", "invalid_tool_call", "server_tool_call"})
_ANSWERS: Final = frozenset({"server_tool_result"})


def open_message(message: JsonObject) -> JsonObject | None:
    """Unwrap a dump, and write its type as a role."""
    if message.get("lc") == 1 and message.get("type") == "constructor":
        return _open_fields(as_object(message.get("kwargs")))
    if isinstance(message.get("data"), dict) and "content" not in message:
        return _open_fields({"type": message.get("type"), **as_object(message["data"])})
    return _open_fields(message)


def _open_fields(fields: JsonObject) -> JsonObject | None:
    # A ChatMessage has a role of its own.
    kind = fields.get("role", fields.get("type"))
    role = ROLES.get(kind.strip().lower()) if isinstance(kind, str) else None
    if role is None or "content" not in fields or "type" not in fields:
        return None
    return {**fields, "role": role}


def read_calls(message: JsonObject) -> Iterator[Call]:
    """Yield the calls among the parts, those that LangChain could not parse, and the provider's own."""
    yield from (read_call(part) for part in content_parts(message) if part.get("type") in _CALLS)
    invalid = [_read_invalid(call) for call in read_objects(message, "invalid_tool_calls")]
    yield from invalid
    fields = read_object(message, "additional_kwargs")
    # There they are once more, as the provider wrote them.
    ids = {call.id for call in invalid if call.id}
    yield from (call for call in read_chat_calls(fields) if call.id not in ids)
    # The calls of tools that OpenAI's server has run.
    yield from map(read_item, filter(is_call, read_objects(fields, "tool_outputs")))


def _read_invalid(call: JsonObject) -> Call:
    # The model may have written no name.
    named = {**call, "name": call.get("name") or "unknown"}
    return replace(read_call(named), answer=_NOT_MADE)


def read_answers(message: JsonObject) -> Iterator[Answer]:
    """Yield the answers among the parts; messages of role ``tool`` are read as OpenAI's."""
    for part in content_parts(message):
        if part.get("type") in _ANSWERS:
            is_error = is_marked_error(part)
            yield Answer(read_result(part.get("output")), read_text(part.get("tool_call_id")), None, is_error)


def dump_messages(messages: object) -> object:
    """Write the message objects of a list as plain ones."""
    return [dump_message(message) for message in messages] if isinstance(messages, list | tuple) else messages


def dump_message(message: object) -> object:
    """Write a message object of LangChain or an SDK as a plain one, and so the objects in its content."""
    if isinstance(message, BaseModel):
        return _dump_model(message)
    if isinstance(message, tuple | list) and [type(part) for part in message] == [str, str]:
        return {"role": message[0], "content": message[1]}
    if not isinstance(message, dict):
        return message
    return {name: _dump_parts(value) if isinstance(value, list) else value for name, value in message.items()}


def _dump_model(model: BaseModel) -> object:
    try:
        return to_jsonable_python(model, bytes_mode="base64", fallback=str)
    except (ValueError, RecursionError):  # refused later, as a message in no known format
        return model


def _dump_parts(parts: list[object]) -> list[object]:
    return [dump_message(part) if isinstance(part, BaseModel) else part for part in parts]


LANGCHAIN: Final = Importer(
    "LangChain",
    open_message,
    read_calls,
    read_answers,
    frozenset({"invalid_tool_calls", "tool_call_chunks"}),
    _CALLS | _ANSWERS | {"text-plain"},
    frozenset({"reasoning", "video"}),
)
