"""What a tool answered, out of the forms in which LangChain's tools may return it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from langchain_core.messages import ToolMessage
from langgraph.types import Command

from orchestrator.state.plain_values import plain_text, text_of


def tool_answer(output: object) -> tuple[str | None, str | None]:
    """The text of a tool's output: as its result, or as its error where the tool says so.

    What a tool tells the model inside a ``Command`` is the last ToolMessage of its update: others
    before it are the conversation that it hands on.
    """
    outputs = output if isinstance(output, list) else [output]
    message = next(reversed([message for one in outputs for message in _messages(one)]), None)
    text = text_of(output) if message is None else plain_text(message.text)
    return (None, text) if message is not None and message.status == "error" else (text, None)


def _messages(output: object) -> Iterator[ToolMessage]:
    update = output.update if isinstance(output, Command) else [output]
    # A mapping by channel, pairs of a channel and its value, or the value of the only channel.
    values = update.values() if isinstance(update, dict) else [update]
    return (item for item in _flat(_flat(_flat(values))) if isinstance(item, ToolMessage))


def _flat(items: Iterable[object]) -> Iterator[object]:
    for item in items:
        if isinstance(item, list | tuple):
            yield from item
        else:
            yield item
