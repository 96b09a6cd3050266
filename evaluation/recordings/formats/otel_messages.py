"""Messages of spans, by the semantic conventions for generative AI and by the older ways to record them.

Source: https://opentelemetry.io/docs/specs/semconv/gen-ai/
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from evaluation.importers.imported_message import read_object, read_objects
from evaluation.values import JsonObject

_INDEXED: Final = re.compile(r"gen_ai\.(prompt|completion)\.([0-9]{1,6})\.(.+)")
_CALL: Final = re.compile(r"tool_calls\.([0-9]{1,6})\.(.+)")
_CONTENTS: Final = {
    "gen_ai.content.prompt": "gen_ai.prompt",
    "gen_ai.content.completion": "gen_ai.completion",
}
_ROLES: Final = {
    "gen_ai.system.message": "system",
    "gen_ai.user.message": "user",
    "gen_ai.assistant.message": "assistant",
    "gen_ai.tool.message": "tool",
    "gen_ai.choice": "assistant",
}
_DETAILS: Final = "gen_ai.client.inference.operation.details"
_MEDIA: Final = frozenset({"blob", "uri", "file"})


def read_span_messages(
    attributes: JsonObject, events: Iterable[JsonObject], where: str = ""
) -> list[dict[str, object]]:
    """Returns the messages of a model's span, as OpenAI writes them; none if it has no contents.

    Args:
        attributes: The attributes of the span by name.
        events: Its events, each with ``name`` and ``attributes`` by name.
        where: Names the span in errors.

    Raises:
        UnknownFormatError: Messages, or parts of them, are of a wrong type.
    """
    listed = list(events)
    for event in listed:
        if event.get("name") == _DETAILS:
            attributes = {**attributes, **read_object(event, "attributes", where)}
    system = parse_json_text(attributes.get("gen_ai.system_instructions"))
    told = [{"role": "system", "content" if isinstance(system, str) else "parts": system}] if system else []
    fields = ("gen_ai.input.messages", "gen_ai.output.messages")
    messages = [each for name in fields for each in read_objects(_parse(attributes, name), name, where)]
    current = [opened for each in (*told, *messages) for opened in _open_parts(each, where)]
    older = [message for event in listed for message in _read_event(event, where)]
    return current or older or [*_read_indexed(attributes)]


def _parse(fields: JsonObject, name: str) -> JsonObject:
    """Returns the object with one field, whose text is read as JSON."""
    return {name: parse_json_text(fields.get(name))}


def parse_json_text(value: object) -> object:
    """Returns the value of a text that is JSON, and anything else as it is."""
    if not isinstance(value, str):
        return value
    try:
        parsed: object = json.loads(value)
    except (ValueError, RecursionError):
        return value
    return parsed


def _open_parts(message: JsonObject, where: str) -> Iterator[dict[str, object]]:
    """Yields a message without its answers of tools, and each answer as a message."""
    if "parts" not in message:
        yield dict(message)
        return
    parts = read_objects(message, "parts", f"a message of {where}")
    answers = [part for part in parts if part.get("type") == "tool_call_response"]
    calls = [part for part in parts if part.get("type") == "tool_call"]
    others = [_open_part(part) for part in parts if part not in answers and part not in calls]
    if others or calls or not answers:
        yield {
            "role": message.get("role"),
            "content": others,
            "tool_calls": calls,
            "finish_reason": message.get("finish_reason"),
        }
    for part in answers:
        content = part.get("response", part.get("result"))
        yield {"role": "tool", "tool_call_id": part.get("id"), "content": _write(content)}


def _write(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _open_part(part: JsonObject) -> object:
    kind = part.get("type")
    if kind == "text":
        return {"type": "text", "text": part.get("content")}
    return {"type": part.get("modality") or "file"} if kind in _MEDIA else {"type": kind}


def _read_event(event: JsonObject, where: str) -> Iterator[dict[str, object]]:
    name, attributes = str(event.get("name")), read_object(event, "attributes", where)
    if name in _CONTENTS:
        field = _CONTENTS[name]
        yield from read_objects(_parse(attributes, field), field, where)
    elif name in _ROLES:
        fields = {**attributes, **read_object(_parse(attributes, "message"), "message", where)}
        calls = read_objects(_parse(fields, "tool_calls"), "tool_calls", where)
        yield _build(_ROLES[name], fields, calls, fields.get("id"))


def _read_indexed(attributes: JsonObject) -> Iterator[dict[str, object]]:
    """Yields the messages of numbered attributes, such as ``gen_ai.prompt.0.content``."""
    found: defaultdict[tuple[bool, int], dict[str, Any]] = defaultdict(dict)
    for key, value in attributes.items():
        if match := _INDEXED.fullmatch(key):
            found[match[1] == "completion", int(match[2])][match[3]] = value
    for (is_reply, _), fields in sorted(found.items(), key=lambda pair: pair[0]):
        role = "assistant" if is_reply else str(fields.get("role"))
        yield _build(role, fields, _list_indexed_calls(fields), fields.get("tool_call_id"))


def _list_indexed_calls(fields: Mapping[str, object]) -> list[object]:
    calls: defaultdict[int, dict[str, object]] = defaultdict(dict)
    for key, value in fields.items():
        if match := _CALL.fullmatch(key):
            calls[int(match[1])][match[2]] = value
    return [call for _, call in sorted(calls.items())]


def _build(role: str, fields: JsonObject, calls: Sequence[object], answered: object) -> dict[str, object]:
    plain = {"role": role, "content": fields.get("content"), "finish_reason": fields.get("finish_reason")}
    return {**plain, "tool_call_id": answered} if role == "tool" else {**plain, "tool_calls": calls}
