"""Reads messages of all known formats, and conversations; ``message_forms.json`` has their tables.

Every table applies to every message, because providers and frameworks mix their forms. What may be a
tool call, or a text of the agent, and that no table names, is refused. Sources:
https://platform.openai.com/docs/api-reference/chat, https://platform.openai.com/docs/api-reference/responses,
https://docs.anthropic.com/en/api/messages, https://ai.google.dev/api/caching#Content, and the dumps of
LangChain: ``model_dump``, ``messages_to_dict`` and ``dumpd``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from agents.parsing.loose_json import iter_objects
from evaluation.importers.imported_message import (
    ROLES,
    Answer,
    Call,
    Message,
    UnknownFormatError,
    as_parts,
    content_parts,
    content_texts,
    is_marked_error,
    list_keys,
    parse_arguments,
    part_text,
    read_arguments,
    read_id,
    read_list,
    read_object,
    read_objects,
    read_result,
    read_run_error,
    read_text,
)
from evaluation.sensitive.scanner import shorten
from evaluation.values import JsonObject, as_object

_FORMS: Final[Mapping[str, list[str]]] = json.loads(
    Path(__file__).with_name("message_forms.json").read_bytes()
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
_ANSWER_PARTS: Final = {
    **_ITEM_ANSWERS,
    **dict.fromkeys(_FORMS["results"], ("content", "tool_use_id")),
    "server_tool_result": ("output", "tool_call_id"),
}
"""Types of parts that are answers, with the fields of the value and of the call's id."""
_ITEM_ASIDES: Final = frozenset(_FORMS["item_asides"])
"""Items that are neither a message nor a call."""
READ_KEYS: Final = frozenset((*_FORMS["keyed_parts"], *_FORMS["fields"]))
"""The keys that are read of a message, and of Gemini's parts, which have no type."""
READ_PARTS: Final = _CALLS.union(_ANSWER_PARTS, _FORMS["texts"])
"""The types of parts that are read."""
ASIDES: Final = _ITEM_ASIDES.union(_FORMS["asides"])
"""Types of parts, and keys of untyped ones, that are accepted and not read: reasoning, images."""
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
    content = fields.get("content")
    content = [*as_parts(content), *parts] if parts or "parts" in fields else content
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


def _list_calls(message: JsonObject, parts: Sequence[JsonObject]) -> tuple[list[Call], ...]:
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
    in_parts = [call for part in (*own, *parts) for call in _read_part_calls(part)]
    return [*_read_field_calls(message), *invalid], in_parts, [*_read_field_calls(kwargs), *items]


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
    if (call := _read_keyed(part, "function_call", "functionCall")) is not None:
        yield read_call(call)
    if (code := _read_keyed(part, "executable_code", "executableCode")) is not None:
        yield Call("code_execution", code)


def _read_keyed(part: JsonObject, *names: str) -> dict[str, object] | None:
    return next((read_object(part, name) for name in names if part.get(name) is not None), None)


def read_call(record: JsonObject) -> Call:
    """Read a call: an object with name and arguments, which may be inside ``function`` or ``custom``.

    Raises:
        UnknownFormatError: It has no name.
    """
    # Inspect and AgentDojo write the name alone in ``function``.
    given = (record.get(key) for key in ("function", "custom"))
    inner = next((as_object(each) for each in given if each and not isinstance(each, str)), record)
    kind, name = str(record.get("type")), inner.get("name", record.get("function"))
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
    is_unfinished = kind in _CLIENT_CALLS and status not in (None, "completed", "in_progress")
    return _NOT_FINISHED if is_unfinished else None


def _list_answers(message: JsonObject, parts: Sequence[JsonObject]) -> list[Answer]:
    """Return the answers among the parts of a message; else the one that a message of role ``tool`` is."""
    own = [message] if message.get("type") in _ITEM_ANSWERS else []
    answers = [each for part in (*own, *parts) for each in _read_part_answers(part)]
    if answers or message.get("role") != "tool":
        return answers
    name = read_text(message.get("name")) or read_text(message.get("tool_name"))
    return [replace(_read_answer(message, "content", "tool_call_id"), name=name)]


def _read_part_answers(part: JsonObject) -> Iterator[Answer]:
    if (fields := _ANSWER_PARTS.get(str(part.get("type")))) is not None:
        yield _read_answer(part, *fields)
        return
    if (answer := _read_keyed(part, "function_response", "functionResponse")) is not None:
        response = read_object(answer, "response")
        name, id_ = read_text(answer.get("name")), str(answer["id"]) if answer.get("id") else None
        yield Answer(answer.get("response"), id_, name, bool(response.get("error")))
    if (result := _read_keyed(part, "code_execution_result", "codeExecutionResult")) is not None:
        is_error = result.get("outcome") not in (None, "OUTCOME_OK")
        yield Answer(read_result(result.get("output")), None, "code_execution", is_error)


def _read_answer(record: JsonObject, field: str, id_field: str) -> Answer:
    value = record.get(field)
    # Anthropic's server reports an error as an object in place of the result.
    kind = value.get("type") if isinstance(value, dict) else ""
    is_error = is_marked_error(record) or not isinstance(kind, str | None) or str(kind).endswith("_error")
    result = read_result(value)
    # Inspect and AgentDojo write the words of an error beside an empty content.
    words = read_run_error(record).get("error", "") if result == "" else result
    return Answer(words, read_id(record.get(id_field)), is_error=is_error)


ACCEPTED: Final = "Anthropic, Gemini, LangChain, OpenAI Responses, OpenAI chat"
"""The formats in words."""
_KEYS: Final = READ_KEYS | ASIDES
_PARTS: Final = READ_PARTS | ASIDES
_KNOWN_FIELDS: Final = _KEYS | frozenset(_FORMS["metadata"]) | {"content"}
_WORD: Final = re.compile(r"[A-Z]?[a-z]+")
_CALLING: Final = frozenset({
    "tool", "tools", "function", "functions", "call", "calls", "action", "actions", "invocation",
    "invocations",
})  # fmt: skip


def read_message(message: object) -> Message:
    """Read a message of any known format.

    Raises:
        UnknownFormatError: It is in no known format, or a part of it is.
    """
    if not isinstance(message, dict):
        raise UnknownFormatError(f"is a {type(message).__name__}, not an object")
    if _is_plain_text(message):
        return Message(message["role"], message)
    if not isinstance(message.get("type"), str | None):
        raise UnknownFormatError("has a type that is no text")
    opened = open_message(message)
    if opened is None:
        raise UnknownFormatError(f"is in no known format ({list_keys(message)})")
    role = str(opened["role"])
    parts = content_parts(opened)
    _check_texts(opened)
    if role == "assistant":
        _check_fields(opened, parts)
    calls = _merge_calls(_list_calls(opened, parts))
    if calls and role != "assistant":
        raise UnknownFormatError(f"has a tool call, although its role is {role!r}")
    answers = tuple(_list_answers(opened, parts))
    # Anthropic and Gemini send the answers of tools in the name of the user.
    if answers and role == "user":
        role, opened = "tool", {**opened, "role": "tool"}
    return Message(role, opened, calls, answers)


def list_unread(message: Message) -> Iterator[str]:
    """Yield the types of the parts of a message that are accepted and not read."""
    # The value that a tool returned is kept as it is, whatever its keys are.
    is_value = any(each.value is message.plain.get("content") for each in message.answers)
    for part in content_parts(message.plain):
        kind = part.get("type")
        if is_value and kind not in ASIDES:
            continue
        if kind is None:
            yield from (f"parts with {key}" for key, value in part.items() if value and key not in READ_KEYS)
        elif kind not in READ_PARTS:
            yield f"parts of the type {shorten(str(kind))}"
    if message.role == "reasoning":
        yield f"items of the type {message.plain['type']}"


def _is_plain_text(message: JsonObject) -> bool:
    # Most messages are, and reading them costs little if no importer has to look at them.
    return (
        message.get("role") in ("user", "assistant", "system")
        and isinstance(message.get("content"), str)
        and not any(value is not None for name, value in message.items() if name not in ("role", "content"))
    )


def _merge_calls(notations: Iterable[Iterable[Call]]) -> tuple[Call, ...]:
    """Join the calls of all notations; one call that is written in two notations is one call."""
    calls: list[Call] = []
    for notation in notations:
        unclaimed = list(calls)
        for call in notation:
            same = next((other for other in unclaimed if _is_same(call, other)), None)
            if same is None:
                calls.append(call)
            else:
                unclaimed.remove(same)
    return tuple(calls)


def _is_same(call: Call, other: Call) -> bool:
    if call.name != other.name or (call.id and other.id and call.id != other.id):
        return False
    args, others = parse_arguments(call.args), parse_arguments(other.args)
    # The parts of a streamed message may lack their arguments.
    return args == others or (call.id == other.id and not (args and others))


def _check_texts(message: JsonObject) -> None:
    """Check that no text is lost; the answer of a tool is any value, and is kept as it is.

    Raises:
        UnknownFormatError: A part, or its text, is of another type.
    """
    for part in as_parts(message.get("content")) if message["role"] != "tool" else ():
        text = part_text(part) if isinstance(part, dict) else part
        if not isinstance(text, str | None) or part is None:
            what = "whose text is no text" if isinstance(part, dict) else "that is no object"
            raise UnknownFormatError(f"has a part {what}, but a {type(text).__name__}")


def _check_fields(message: JsonObject, parts: Sequence[JsonObject]) -> None:
    """Check that the importers read all calls that the agent wrote.

    Raises:
        UnknownFormatError: A field or a part may hold a call in another form.
    """
    for part in parts:
        kind = part.get("type")
        names = [kind] if isinstance(kind, str) else [key for key, value in part.items() if value is not None]
        if not (_PARTS if isinstance(kind, str) else _KEYS).issuperset(names):
            name = f"type {shorten(kind)!r}" if isinstance(kind, str) else list_keys(part)
            raise UnknownFormatError(f"has a part in no known format ({name})")
    # An item of the Responses API is a part by itself.
    whole = [] if message.get("type") in _PARTS else [message]
    for fields in (*whole, *(part for part in parts if isinstance(part.get("text"), str))):
        # A number, such as a count of calls, holds no call.
        unread = (
            (key, value)
            for key, value in fields.items()
            if key not in _KNOWN_FIELDS and value and not isinstance(value, int | float)
        )
        if calls := {key: value for key, value in unread if _names_call({key: value})}:
            raise UnknownFormatError(f"may hold tool calls in no known format ({list_keys(calls)})")


def _names_call(value: object) -> bool:
    """Return whether a value has a field such as ``toolInvocations``, at any depth."""
    keys = (key for fields in iter_objects(value) for key in fields)
    return any(word.lower() in _CALLING for key in keys for word in _WORD.findall(key))
