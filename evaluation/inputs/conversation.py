"""The texts of a recorded conversation, in the shape of chat messages."""

from __future__ import annotations

from collections.abc import Iterator


def assistant_texts(messages: object) -> Iterator[str]:
    """Yield each text that a recorded conversation has of the assistant."""
    for message in messages if isinstance(messages, list) else ():
        if isinstance(message, dict) and message.get("role") == "assistant":
            yield from texts_of(message.get("content"))


def texts_of(content: object) -> Iterator[str]:
    """Yield the texts of a message's content, which may be a text or a list of parts."""
    parts = content if isinstance(content, list) else [content]
    for part in parts:
        text = part.get("text") if isinstance(part, dict) else part
        if isinstance(text, str) and text:
            yield text
