"""Messages in the logged input or output of a model, an agent or a chain, which may have any form."""

from __future__ import annotations

from typing import Final

from evaluation.importers.imported_message import ROLES, dump_message
from evaluation.importers.known_formats import open_message
from evaluation.values import as_object

_HOLDERS: Final = (
    "messages", "generations", "choices", "message", "prompts", "input", "output", "query", "question",
    "answer", "result", "response", "content", "text",
)  # fmt: skip
"""Fields that hold messages or a text, the likeliest first."""
_DEPTH: Final = 8
"""Levels of objects and lists around messages that are looked through."""


def list_messages(value: object, role: str) -> list[object]:
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


def join_messages(asked: object, answered: object) -> list[object]:
    """Return the messages of an input and its output; a state as the output repeats those of the input."""
    after = list_messages(answered, "assistant")
    roles = (
        ROLES.get(str(fields.get("role", fields.get("type"))).lower()) for fields in map(as_object, after)
    )
    return after if "user" in roles else [*list_messages(asked, "user"), *after]
