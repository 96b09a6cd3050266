"""Reads chat messages: the texts of the assistant, and a run from a whole conversation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from evaluation.values import JsonObject


def assistant_texts(messages: object) -> Iterator[str]:
    """Yield each text of the assistant in a recorded conversation."""
    for message in messages if isinstance(messages, list) else ():
        if isinstance(message, dict) and message.get("role") == "assistant":
            yield from content_texts(message.get("content"))


def content_texts(content: object) -> Iterator[str]:
    """Yield the texts in the content of a message: a text, or a list of parts."""
    parts = content if isinstance(content, list) else [content]
    for part in parts:
        text = part.get("text") if isinstance(part, dict) else part
        if isinstance(text, str) and text:
            yield text


Message = Mapping[str, object]


def run_from_messages(
    messages: Iterable[Message], *, failed: Callable[[str], bool] | None = None
) -> dict[str, object]:
    """Convert a conversation in the form of OpenAI's chat messages to an ``agent_run``.

    Args:
        messages: Objects with ``role`` and ``content``; an assistant's ``tool_calls`` hold ``id`` and
            ``function`` (``name``, ``arguments`` as JSON text), and a message of role ``tool`` names the call
            it answers in ``tool_call_id``.
        failed: Returns whether the answer of a tool is an error. Default: no answer is.

    Returns:
        An ``agent_run`` with the first text of the user as input, the tool calls with their answers, and the
        conversation. Parts of another form stay in ``messages`` and count as no call.
    """
    log = [dict(message) for message in messages]
    answers = {
        str(message.get("tool_call_id")): _join_texts(message)
        for message in log
        if message.get("role") == "tool"
    }
    return {
        "input": next((_join_texts(message) for message in log if message.get("role") == "user"), ""),
        "messages": log,
        "tool_calls": [_convert_call(call, answers, failed) for call in _find_calls(log)],
    }


def _find_calls(log: Sequence[Message]) -> Iterator[Message]:
    for message in log:
        calls = message.get("tool_calls")
        if isinstance(calls, list):
            yield from (call for call in calls if isinstance(call, Mapping))


def _convert_call(
    call: Message, answers: Mapping[str, str], failed: Callable[[str], bool] | None
) -> JsonObject:
    value = call.get("function")
    function = value if isinstance(value, Mapping) else {}
    answer = answers.get(str(call.get("id")))
    return {
        "name": str(function.get("name", "")),
        "args": function.get("arguments"),
        "result": answer,
        "error": answer is not None and failed is not None and failed(answer),
    }


def _join_texts(message: Message) -> str:
    return "".join(content_texts(message.get("content")))
