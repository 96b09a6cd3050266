"""Text that every encoding of Unicode can carry: without halves of surrogate pairs.

An escape in a model's JSON makes them, and so does the name of a file that is no UTF-8. No client can
send them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from langchain_core.messages import BaseMessage

_SENT: Final = ("content", "additional_kwargs", "tool_calls", "invalid_tool_calls")


def well_formed(text: str) -> str:
    """The text with U+FFFD for each half of a surrogate pair."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def sendable(messages: Sequence[BaseMessage]) -> list[BaseMessage]:
    """The messages with all their text well-formed; those where it is are the same objects."""
    return [_sendable(message) for message in messages]


def _sendable(message: BaseMessage) -> BaseMessage:
    held = {name: value for name in _SENT if (value := getattr(message, name, None))}
    try:
        mended = {name: _mended(value) for name, value in held.items()}
    except RecursionError:  # arguments so deep that no client sends them either
        return message
    return message if mended == held else message.model_copy(update=mended)


def _mended(value: object) -> object:
    if isinstance(value, str):
        return well_formed(value)
    if isinstance(value, list):
        return [_mended(item) for item in value]
    if isinstance(value, dict):
        return {_mended(key): _mended(item) for key, item in value.items()}
    return value
