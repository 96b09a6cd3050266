"""Conversations: messages of OpenAI, Anthropic, Gemini and LangChain, as a list or in a field."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from evaluation.importers.imported_message import read_run_error
from evaluation.recordings.recorded_run import RecordedRun, list_ignored, read_message_run
from evaluation.values import JsonObject, as_list

_KEYS: Final = ("messages", "traj", "contents", "input_messages")
"""Fields that have the messages of a conversation."""
_MARKS: Final = frozenset({"role", "type", "parts", "lc"})
"""A message has at least one of these fields."""
_READ: Final = frozenset({"id", "thread_id", "object", "error"})


def are_messages(value: object) -> bool:
    """Returns whether a value is a list of objects that look like messages."""
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(item, dict) and bool(_MARKS & item.keys()) for item in value)
    )


def find_messages(value: object) -> str | None:
    """Returns the field of an object that has messages; None if there is none."""
    if not isinstance(value, Mapping):
        return None
    return next((key for key in _KEYS if are_messages(value.get(key))), None)


class ConversationFormat:
    """A list of messages, or an object that has one."""

    name = "list of messages"

    def recognises(self, value: object) -> bool:
        """Returns whether the value is a list of messages, or has one."""
        return are_messages(value) or find_messages(value) is not None

    def read(self, value: JsonObject) -> Iterator[RecordedRun]:
        """Yields one run; raises as ``run_from_messages`` does."""
        key = find_messages(value)
        if key is None:
            yield read_message_run(as_list(value))
            return
        ignored = list_ignored(value, _READ | {key}, "the conversation")
        name = value.get("id") or value.get("thread_id")
        yield read_message_run(as_list(value[key]), name, read_run_error(value), ignored)
