"""Messages in the logged input or output of a model, an agent or a chain, which may have any form."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from evaluation.importers.imported_message import ROLES
from evaluation.importers.known_formats import open_message
from evaluation.values import as_object

_HOLDERS: Final = ("messages", "generations", "choices", "message", "prompts", "input", "output")
"""Fields that hold messages; of several generations and choices the first one was used."""
_TEXTS: Final = ("query", "question", "answer", "result", "response", "content", "text")


def list_messages(value: object, role: str) -> list[object]:
    """Return the messages of a logged value; a text is a message of ``role``; none if it has neither."""
    if isinstance(value, str):
        return [{"role": role, "content": value}] if value else []
    if isinstance(value, list):
        return _list_in_list(value, role)
    fields = as_object(value)
    if open_message(fields) is not None:
        return [fields]
    inner = next((list_messages(fields[name], role) for name in _HOLDERS if fields.get(name)), [])
    texts = (fields[name] for name in _TEXTS if isinstance(fields.get(name), str))
    return inner or list_messages(next(texts, None), role)


def _list_in_list(values: Sequence[object], role: str) -> list[object]:
    if values and all(isinstance(each, dict) and open_message(each) is not None for each in values):
        return list(values)
    # A batch of requests or replies has a list or an object for each.
    return list_messages(values[0], role) if values else []


def join_messages(asked: object, answered: object) -> list[object]:
    """Return the messages of an input and its output; a state as the output repeats those of the input."""
    after = list_messages(answered, "assistant")
    roles = (
        ROLES.get(str(fields.get("role", fields.get("type"))).lower()) for fields in map(as_object, after)
    )
    return after if "user" in roles else [*list_messages(asked, "user"), *after]
