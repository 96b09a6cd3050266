"""Anthropic's messages: ``tool_use`` and ``tool_result`` among the parts of a content.

Source: https://docs.anthropic.com/en/api/messages
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from evaluation.importers.imported_message import (
    Answer,
    Call,
    Importer,
    content_parts,
    is_marked_error,
    read_call,
    read_result,
    read_text,
)
from evaluation.values import JsonObject

_CALLS: Final = frozenset({"tool_use", "server_tool_use", "mcp_tool_use"})
_ANSWERS: Final = frozenset({
    "tool_result", "mcp_tool_result", "web_search_tool_result", "web_fetch_tool_result",
    "code_execution_tool_result", "bash_code_execution_tool_result",
    "text_editor_code_execution_tool_result", "tool_search_tool_result",
})  # fmt: skip


def read_calls(message: JsonObject) -> Iterator[Call]:
    """Yield the calls among the parts of a message."""
    return (read_call(part) for part in content_parts(message) if part.get("type") in _CALLS)


def read_answers(message: JsonObject) -> Iterator[Answer]:
    """Yield the answers among the parts of a message."""
    for part in content_parts(message):
        if part.get("type") in _ANSWERS:
            content = part.get("content")
            # The server's tools report an error as an object in place of the result.
            kind = content.get("type") if isinstance(content, dict) else ""
            is_error = is_marked_error(part) or not isinstance(kind, str) or kind.endswith("_error")
            yield Answer(read_result(content), read_text(part.get("tool_use_id")), is_error=is_error)


ANTHROPIC: Final = Importer(
    "Anthropic",
    lambda _: None,  # the messages have the form of OpenAI's, and differ in their parts
    read_calls,
    read_answers,
    parts=_CALLS | _ANSWERS,
    asides=frozenset({
        "thinking", "redacted_thinking", "image", "document", "search_result", "container_upload"
    }),
)  # fmt: skip
