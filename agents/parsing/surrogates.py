"""Replaces lone surrogates: halves of a Unicode pair, which no request and no file can carry.

A model writes them if it cuts an emoji in two; a file name that is not UTF-8 decodes to them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from langchain_core.messages import BaseMessage

_SENT_FIELDS: Final = ("content", "additional_kwargs", "tool_calls", "invalid_tool_calls")


def replace_surrogates(text: str) -> str:
    """Replaces each lone surrogate with U+FFFD."""
    # UTF-16 joins two halves that stand side by side, which UTF-8 would replace one by one.
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def make_sendable(messages: Sequence[BaseMessage]) -> list[BaseMessage]:
    """Replaces lone surrogates in messages. A message without any stays the same object."""
    return [_make_sendable(message) for message in messages]


def _make_sendable(message: BaseMessage) -> BaseMessage:
    fields = {name: value for name in _SENT_FIELDS if (value := getattr(message, name, None))}
    update = {name: _replace_in(value) for name, value in fields.items()}
    return message if update == fields else message.model_copy(update=update)


def _replace_in(value: object) -> object:
    if isinstance(value, str):
        return replace_surrogates(value)
    if isinstance(value, list):
        return [_replace_in(item) for item in value]
    if isinstance(value, dict):
        return {_replace_in(key): _replace_in(item) for key, item in value.items()}
    return value
