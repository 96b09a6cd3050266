"""The texts of a recorded conversation, in the shape of chat messages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from evaluation.values import JsonObject


def assistant_texts(messages: object) -> Iterator[str]:
    """Yield each text that a recorded conversation has of the assistant."""
    for message in messages if isinstance(messages, list) else ():
        if isinstance(message, dict) and message.get("role") == "assistant":
            yield from content_texts(message.get("content"))


def content_texts(content: object) -> Iterator[str]:
    """Yield the texts of a message's content, which may be a text or a list of parts."""
    parts = content if isinstance(content, list) else [content]
    for part in parts:
        text = part.get("text") if isinstance(part, dict) else part
        if isinstance(text, str) and text:
            yield text


Message = Mapping[str, object]


def run_from_messages(
    messages: Iterable[Message], *, failed: Callable[[str], bool] | None = None
) -> dict[str, object]:
    """Read a conversation in the shape of OpenAI's chat messages.

    Args:
        messages: Objects with ``role`` and ``content``; an assistant's ``tool_calls`` hold ``id`` and
            ``function`` (``name``, ``arguments`` as JSON text), and a message of role ``tool`` answers by
            ``tool_call_id``.
        failed: Says of a tool's answer whether it is an error; by default none is.

    Returns:
        An ``agent_run`` with the first text of the user as input, the tool calls with their answers, and the
        conversation. What does not have this shape is kept in ``messages`` and is no call.
    """
    log = [dict(message) for message in messages]
    answers = {str(one.get("tool_call_id")): _text(one) for one in log if one.get("role") == "tool"}
    return {
        "input": next((_text(one) for one in log if one.get("role") == "user"), ""),
        "messages": log,
        "tool_calls": [_call(call, answers, failed) for call in _calls(log)],
    }


def _calls(log: Sequence[Message]) -> Iterator[Message]:
    for message in log:
        calls = message.get("tool_calls")
        if isinstance(calls, list):
            yield from (call for call in calls if isinstance(call, Mapping))


def _call(call: Message, answers: Mapping[str, str], failed: Callable[[str], bool] | None) -> JsonObject:
    given = call.get("function")
    function = given if isinstance(given, Mapping) else {}
    answer = answers.get(str(call.get("id")))
    return {
        "name": str(function.get("name", "")),
        "args": function.get("arguments"),
        "result": answer,
        "error": answer is not None and failed is not None and failed(answer),
    }


def _text(message: Message) -> str:
    return "".join(content_texts(message.get("content")))
