"""The forms in which providers and frameworks write messages, tool calls and answers: tables, and one reader.

Every table applies to every message, because providers and frameworks mix their forms. Sources:
https://platform.openai.com/docs/api-reference/chat, https://platform.openai.com/docs/api-reference/responses,
https://docs.anthropic.com/en/api/messages, https://ai.google.dev/api/caching#Content, and the dumps of
LangChain: ``model_dump``, ``messages_to_dict`` and ``dumpd``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

from evaluation.importers.imported_message import (
    ROLES,
    Answer,
    Call,
    UnknownFormatError,
    as_parts,
    content_parts,
    content_texts,
    is_marked_error,
    list_keys,
    read_arguments,
    read_list,
    read_object,
    read_objects,
    read_result,
    read_text,
)
from evaluation.values import JsonObject, as_object

_FORMS: Final[Mapping[str, list[str]]] = json.loads(
    Path(__file__).with_name("message_forms.json").read_text(encoding="utf-8")
)
_CLIENT_CALLS: Final = frozenset(_FORMS["client_calls"])
_SERVER_CALLS: Final = frozenset(_FORMS["server_calls"])
"""Calls of OpenAI's server, which have their answer; so have ``tool_outputs`` of LangChain."""
_ITEM_CALLS: Final = _CLIENT_CALLS | _SERVER_CALLS
"""Items and parts of the Responses API."""
_CALLS: Final = _ITEM_CALLS.union(_FORMS["calls"])
"""Types of parts that are calls: OpenAI's, Anthropic's, LangChain's."""
_NAMED: Final = frozenset(_FORMS["unnamed_calls"])
"""Types of calls that say nothing about the tool."""
_ITEM_ANSWERS: Final = {f"{name}_output": ("output", "call_id") for name in _FORMS["client_calls"]}
_ANSWERS: Final = {
    **_ITEM_ANSWERS,
    **dict.fromkeys(_FORMS["results"], ("content", "tool_use_id")),
    "server_tool_result": ("output", "tool_call_id"),
}
"""Types of parts that are answers, with the fields of the value and of the call's id."""
_ITEM_ASIDES: Final = frozenset(_FORMS["item_asides"])
"""Items that are neither a message nor a call."""
READ_KEYS: Final = frozenset((*_FORMS["keyed_parts"], *_FORMS["fields"]))
"""The keys that are read of a message, and of Gemini's parts, which have no type."""
READ_PARTS: Final = _CALLS.union(_ANSWERS, _FORMS["texts"])
"""The types of parts that are read."""
ASIDES: Final = _ITEM_ASIDES.union(_FORMS["asides"])
"""Types of parts, and keys of untyped ones, that are accepted and not read: reasoning, images."""
METADATA: Final = frozenset(_FORMS["metadata"])
"""Fields whose form is free; calls in them are read by name, or are counts."""
_CONTENTS: Final = frozenset({"content", "parts", "tool_calls", "function_call", "refusal", "audio"})
"""A message has at least one of these fields."""
_ARGUMENTS: Final = ("arguments", "args", "input", "parameters", "action")
"""The names that the forms give to the arguments of a call."""
_NOT_MADE: Final = Answer("The arguments could not be read.", is_error=True)
"""The answer to an invalid call: LangChain's agents do not make it."""
_NOT_FINISHED: Final = Answer("The call is incomplete.", is_error=True)
"""The answer to a call that the model did not finish, so that the client cannot make it."""


def open_message(message: JsonObject) -> JsonObject | None:
    """Return a message with the usual ``role`` and all texts in ``content``; None if it is no message."""
    fields = _unwrap_dump(message)
    kind = fields.get("type")
    # An item of reasoning that was read before has its role already.
    is_item = fields.get("role", "reasoning") == "reasoning" and isinstance(kind, str)
    if is_item and (item := _open_item(fields, str(kind))) is not None:
        return item
    name = fields.get("role", kind)
    role = ROLES.get(name.strip().lower()) if isinstance(name, str) else None
    if role is None or _CONTENTS.isdisjoint(fields):
        return None
    texts = (fields.get("refusal"), read_object(fields, "audio").get("transcript"))
    more = [{"type": "text", "text": text} for text in texts if text not in (None, "")]
    parts = [*_list_new_parts(fields), *more]
    rest = {key: value for key, value in fields.items() if key != "parts"}
    content = (
        [*as_parts(fields.get("content")), *parts] if parts or "parts" in fields else fields.get("content")
    )
    return {**rest, "role": role, "content": content}


def _unwrap_dump(message: JsonObject) -> JsonObject:
    if message.get("lc") == 1 and message.get("type") == "constructor":
        return as_object(message.get("kwargs"))
    if isinstance(message.get("data"), dict) and "content" not in message:
        return {"type": message.get("type"), **as_object(message["data"])}
    return message


def _open_item(item: JsonObject, kind: str) -> JsonObject | None:
    if kind in _ITEM_CALLS:
        return {**item, "role": "assistant", "content": None}
    if kind in _ITEM_ANSWERS:
        return {**item, "role": "tool", "content": item.get("output")}
    return {"content": None, **item, "role": "reasoning"} if kind in _ITEM_ASIDES else None


def _list_new_parts(fields: JsonObject) -> list[object]:
    """Return the parts; some frameworks write a text both as the content and as a part."""
    known = "".join(content_texts(fields.get("content")))
    return [part for part in read_list(fields, "parts") if not _is_text_in(part, known)]


def _is_text_in(part: object, known: str) -> bool:
    return isinstance(part, dict) and part.keys() <= {"type", "text"} and str(part.get("text")) in known


def list_calls(message: JsonObject) -> tuple[list[Call], ...]:
    """Return the calls of a message in each notation: one call may stand in several.

    Raises:
        UnknownFormatError: A field or a part of a call is in no known form.
    """
    kwargs = read_object(message, "additional_kwargs")
    # First the fields: the parts of a streamed message may lack their arguments.
    invalid = [_read_invalid(call) for call in read_objects(message, "invalid_tool_calls")]
    items = [
        read_call(item) for item in read_objects(kwargs, "tool_outputs") if item.get("type") in _ITEM_CALLS
    ]
    own = [message] if message.get("type") in _ITEM_CALLS else []
    parts = [call for part in (*own, *content_parts(message)) for call in _read_part_calls(part)]
    return [*_read_field_calls(message), *invalid], parts, [*_read_field_calls(kwargs), *items]


def _read_field_calls(fields: JsonObject) -> Iterator[Call]:
    yield from map(read_call, read_objects(fields, "tool_calls"))
    if fields.get("function_call") is not None:
        yield read_call(read_object(fields, "function_call"))


def _read_invalid(call: JsonObject) -> Call:
    # The model may have written no name.
    return replace(read_call({**call, "name": call.get("name") or "unknown"}), answer=_NOT_MADE)


def _read_part_calls(part: JsonObject) -> Iterator[Call]:
    if part.get("type") in _CALLS:
        yield read_call(part)
        return
    call = _read_keyed(part, "function_call", "functionCall")
    if call is not None:
        yield read_call(call)
    code = _read_keyed(part, "executable_code", "executableCode")
    if code is not None:
        yield Call("code_execution", code)


def _read_keyed(part: JsonObject, *names: str) -> dict[str, object] | None:
    return next((read_object(part, name) for name in names if part.get(name) is not None), None)


def read_call(record: JsonObject) -> Call:
    """Read a call: an object with name and arguments, which may be inside ``function`` or ``custom``.

    Raises:
        UnknownFormatError: It has no name.
    """
    inner = next((as_object(record[key]) for key in ("function", "custom") if record.get(key)), record)
    kind, name = str(record.get("type")), inner.get("name")
    if not isinstance(name, str) and kind in _ITEM_CALLS - _NAMED:
        name = kind.removesuffix("_call")
    # An empty name is one that a model wrote; the call counts.
    if not isinstance(name, str) or (kind in _ITEM_CALLS and not name):
        raise UnknownFormatError(f"has a tool call without a name ({list_keys(inner)})")
    args = next((inner[key] for key in _ARGUMENTS if inner.get(key) is not None), None)
    id_ = next((str(record[key]) for key in ("call_id", "id") if record.get(key)), None)
    return Call(name, read_arguments(args), id_, _read_own_answer(record, kind))


def _read_own_answer(record: JsonObject, kind: str) -> Answer | None:
    status = record.get("status")
    if kind in _SERVER_CALLS:
        is_error = bool(record.get("error")) or status not in (None, "completed")
        return Answer(read_result(record.get("output")), is_error=is_error)
    return (
        None if kind not in _CLIENT_CALLS or status in (None, "completed", "in_progress") else _NOT_FINISHED
    )


def list_answers(message: JsonObject) -> list[Answer]:
    """Return the answers among the parts of a message; else the one that a message of role ``tool`` is."""
    own = [message] if message.get("type") in _ITEM_ANSWERS else []
    answers = [each for part in (*own, *content_parts(message)) for each in _read_part_answers(part)]
    if answers or message.get("role") != "tool":
        return answers
    name = read_text(message.get("name")) or read_text(message.get("tool_name"))
    return [replace(_read_answer(message, "content", "tool_call_id"), name=name)]


def _read_part_answers(part: JsonObject) -> Iterator[Answer]:
    if (fields := _ANSWERS.get(str(part.get("type")))) is not None:
        yield _read_answer(part, *fields)
        return
    answer = _read_keyed(part, "function_response", "functionResponse")
    if answer is not None:
        response = read_object(answer, "response")
        name, id_ = read_text(answer.get("name")), str(answer["id"]) if answer.get("id") else None
        yield Answer(answer.get("response"), id_, name, bool(response.get("error")))
    result = _read_keyed(part, "code_execution_result", "codeExecutionResult")
    if result is not None:
        is_error = result.get("outcome") not in (None, "OUTCOME_OK")
        yield Answer(read_result(result.get("output")), None, "code_execution", is_error)


def _read_answer(record: JsonObject, field: str, id_field: str) -> Answer:
    value = record.get(field)
    # Anthropic's server reports an error as an object in place of the result.
    kind = value.get("type") if isinstance(value, dict) else ""
    is_error = is_marked_error(record) or not isinstance(kind, str | None) or str(kind).endswith("_error")
    return Answer(read_result(value), read_text(record.get(id_field)), is_error=is_error)
