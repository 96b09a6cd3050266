"""The messages in the attributes of a span: by the conventions for generative AI, older ones and others.

Sources: https://opentelemetry.io/docs/specs/semconv/gen-ai/, https://arize-ai.github.io/openinference/spec/.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any, Final

from evaluation.importers.imported_message import (
    ROLES,
    dump_message,
    format_text,
    parse_json_text,
    read_object,
    read_objects,
)
from evaluation.importers.known_formats import open_message
from evaluation.recordings.formats.span_dialects import FORMS, MODEL, Span, find_field
from evaluation.values import JsonObject, as_object

_NUMBERED: Final = {"gen_ai.prompt": False, "gen_ai.completion": True} | {
    "llm.input_messages": False, "llm.output_messages": True,
}  # fmt: skip
"""Prefixes of numbered messages, and whether these are replies."""
_INDEXED: Final = re.compile(rf"({'|'.join(map(re.escape, _NUMBERED))})\.([0-9]{{1,6}})\.(?:message\.)?(.+)")
_CALL: Final = re.compile(r"(tool_calls)\.([0-9]{1,6})\.(?:tool_call\.)?(?:function\.)?(.+)")
_PART: Final = re.compile(r"(contents)\.([0-9]{1,6})\.message_content\.(.+)")
_MEDIA: Final = frozenset({"blob", "uri", "file"})


def read_span_messages(span: Span) -> list[dict[str, object]]:
    """Returns the messages of a span of a model, an agent or a workflow; none if it has no contents.

    Raises:
        UnknownFormatError: Messages, or parts of them, are of a wrong type.
    """
    attributes, where = span.attributes, f"the span {span.id}"
    for event in span.events:
        if event.get("name") == "gen_ai.client.inference.operation.details":
            attributes = {**attributes, **read_object(event, "attributes", where)}
    system = parse_json_text(attributes.get("gen_ai.system_instructions"))
    told = [{"role": "system", "content" if isinstance(system, str) else "parts": system}] if system else []
    fields = ("gen_ai.input.messages", "gen_ai.output.messages")
    parsed = {name: parse_json_text(attributes.get(name)) for name in fields}
    messages = [each for name in fields for each in read_objects(parsed, name, where)]
    current = [opened for each in (*told, *messages) for opened in _open_parts(each, where)]
    if current:
        return current
    # Of the state of an agent, numbered attributes may have a part alone.
    numbered, logged = [*_read_numbered(attributes)], _read_values(attributes)
    return (numbered or logged) if span.operation in MODEL else (logged or numbered)


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
        yield {"role": "tool", "tool_call_id": part.get("id"), "content": format_text(content)}


def _open_part(part: JsonObject) -> object:
    kind = part.get("type")
    if kind == "text":
        return {"type": "text", "text": part.get("content")}
    return {"type": part.get("modality") or "file"} if kind in _MEDIA else {"type": kind}


def _read_numbered(attributes: JsonObject) -> Iterator[dict[str, object]]:
    """Yields the messages of numbered attributes, such as ``gen_ai.prompt.0.content``, or of such lists."""
    found: defaultdict[tuple[bool, int], dict[str, Any]] = defaultdict(dict)
    lists = {name: find_field(attributes, name) for name in _NUMBERED}
    listed = [pair for name, value in lists.items() if value is not None for pair in _flatten(name, value)]
    for key, value in (*attributes.items(), *listed):
        if match := _INDEXED.fullmatch(key):
            found[_NUMBERED[match[1]], int(match[2])][match[3]] = value
    for (is_reply, _), fields in sorted(found.items(), key=lambda pair: pair[0]):
        role = "assistant" if is_reply else str(fields.get("role"))
        answered = {"tool_call_id": fields.get("tool_call_id")} if role == "tool" else {}
        named = {"name": fields["name"]} if fields.get("name") else {}
        parts = [_open_content(part) for part in _list_indexed(_PART, fields)]
        plain = {"content": parts or fields.get("content"), "finish_reason": fields.get("finish_reason")}
        older = {
            "name": fields.get("function_call_name"),
            "arguments": fields.get("function_call_arguments_json"),
        }
        calls = [*_list_indexed(_CALL, fields), *([older] if older["name"] else [])]
        yield {"role": role, **plain, "tool_calls": calls, **answered, **named}


def _flatten(name: str, value: object, levels: int = 8) -> Iterator[tuple[str, object]]:
    """Yields the values in an object or a list with their paths, as deep as messages are."""
    if not isinstance(value, dict | list) or not levels:
        yield name, value
        return
    for key, each in value.items() if isinstance(value, dict) else enumerate(value):
        yield from _flatten(f"{name}.{key}", each, levels - 1)


def _list_indexed(pattern: re.Pattern[str], fields: Mapping[str, object]) -> list[dict[str, object]]:
    found: defaultdict[int, dict[str, object]] = defaultdict(dict)
    for key, value in fields.items():
        if match := pattern.fullmatch(key):
            found[int(match[2])][match[3]] = value
    return [each for _, each in sorted(found.items())]


def _open_content(part: JsonObject) -> object:
    kind = part.get("type")
    return {"type": kind, **({"text": part.get("text")} if kind == "text" else {})}


def _read_values(attributes: JsonObject) -> list[dict[str, object]]:
    pairs = (
        [parse_json_text(find_field(attributes, name)) for name in names]
        for names in zip(FORMS["inputs"], FORMS["outputs"], strict=True)
    )
    return next(([*map(as_object, _join_messages(*pair))] for pair in pairs if any(pair)), [])


_HOLDERS: Final = (
    "messages", "generations", "choices", "message", "prompts", "input", "output", "query", "question",
    "answer", "result", "response", "content", "text",
)  # fmt: skip
"""Fields that hold messages or a text, the likeliest first."""
_DEPTH: Final = 8
"""Levels of objects and lists around messages that are looked through."""


def _list_messages(value: object, role: str) -> list[object]:
    """Return the messages of a logged value; a text is a message of ``role``; none if it has neither."""
    for _ in range(_DEPTH):
        if isinstance(value, str):
            return [{"role": role, "content": value}] if value else []
        messages = [dump_message(each) for each in (value if isinstance(value, list) else [value])]
        if messages and all(map(_is_message, messages)):
            return messages
        if isinstance(value, list) and value and all(map(_is_part, value)):
            return [{"role": role, "content": value}]
        value = _open(value)
    return []


def _is_message(value: object) -> bool:
    fields = as_object(value)
    # One with a wrong role or type is refused as a message.
    return not {"role", "type"}.isdisjoint(fields) and (
        "content" in fields or open_message(fields) is not None
    )


def _is_part(value: object) -> bool:
    return isinstance(value, dict) and "type" in value and "message" not in value


def _open(value: object) -> object:
    if isinstance(value, list):
        # A batch has a list or an object for each request; of several replies the first one was used.
        return value[0] if value else None
    fields = as_object(value)
    return next((fields[name] for name in _HOLDERS if fields.get(name)), None)


def _join_messages(asked: object, answered: object) -> list[object]:
    """Return the messages of an input and its output; a state as the output repeats those of the input."""
    after = _list_messages(answered, "assistant")
    roles = (
        ROLES.get(str(fields.get("role", fields.get("type"))).lower()) for fields in map(as_object, after)
    )
    return after if "user" in roles else [*_list_messages(asked, "user"), *after]
