"""Refuses what may be a tool call, or a text of the agent, and that no importer reads."""

from __future__ import annotations

import re
from typing import Final

from evaluation.importers.imported_message import ARGUMENTS, UnknownFormatError, content_parts, list_keys
from evaluation.sensitive.quoting import shorten
from evaluation.values import JsonObject

_WORD: Final = re.compile(r"[A-Z]?[a-z]+")
_CALLING: Final = frozenset({
    "tool", "tools", "function", "functions", "call", "calls", "action", "actions", "invocation",
    "invocations",
})  # fmt: skip
_METADATA: Final = frozenset({
    "additional_kwargs", "response_metadata", "usage_metadata", "metadata", "usage", "artifact",
    "annotations", "citations", "logprobs", "audio", "extras", "provider_specific_fields",
    "reasoning_details",
})  # fmt: skip
"""Fields whose form is free; what they hold of calls is read by name, or is a count."""


def check_fields(message: JsonObject, keys: frozenset[str], parts: frozenset[str]) -> None:
    """Check that the importers read all that the agent wrote.

    Args:
        message: A message of the agent.
        keys: The keys that the importers read in a message or in a part without a type.
        parts: The types of the parts that they read.

    Raises:
        UnknownFormatError: A field or a part may hold a call in another form.
    """
    # An item of the Responses API is a part by itself.
    if message.get("type") not in parts:
        _refuse_calls(message, keys | {"content"})
    content = message.get("content")
    for item in content if isinstance(content, list) else ():
        if not isinstance(item, dict | str):
            raise UnknownFormatError(f"has a part that is no object, but a {type(item).__name__}")
    for part in content_parts(message):
        kind = part.get("type")
        if not _is_known(part, keys, parts):
            name = f"type {shorten(kind)!r}" if isinstance(kind, str) else list_keys(part)
            raise UnknownFormatError(f"has a part in no known format ({name})")
        if isinstance(part.get("text"), str):
            _refuse_calls(part, keys)


def _is_known(part: JsonObject, keys: frozenset[str], parts: frozenset[str]) -> bool:
    if isinstance(part.get("type"), str):
        return part["type"] in parts
    return all(key in keys for key, value in part.items() if value is not None)


def _refuse_calls(fields: JsonObject, keys: frozenset[str]) -> None:
    # A number, such as a count of calls, holds no call.
    filled = {key: value for key, value in fields.items() if value and not isinstance(value, int | float)}
    unread = {key: value for key, value in filled.items() if key not in keys | _METADATA}
    calls = {key: value for key, value in unread.items() if _names_call(key) or _may_hold_call(value)}
    if calls:
        raise UnknownFormatError(f"may hold tool calls in no known format ({list_keys(calls)})")


def _names_call(key: str) -> bool:
    return not _CALLING.isdisjoint(word.lower() for word in _WORD.findall(key))


def _may_hold_call(value: object) -> bool:
    if isinstance(value, dict):
        is_call = "name" in value and any(key in value for key in ARGUMENTS)
        return is_call or any(map(_names_call, value)) or any(map(_may_hold_call, value.values()))
    return isinstance(value, list) and any(map(_may_hold_call, value))
