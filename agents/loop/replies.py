"""Reads and marks the replies of a model in the messages of an agent: who got one, which were refused."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, cast
from uuid import uuid4

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from typing_extensions import TypedDict

_CORRECTION: Final = "contract"
_REPLY_MARK: Final = "orchestrator_call"


class ReplyMark(TypedDict):
    """The model that gave a reply, the id of the execution that got it, and when, as ISO 8601 in UTC."""

    model: str
    execution: str
    replied_at: str


def mark_reply(reply: AIMessage, messages: Sequence[BaseMessage], mark: ReplyMark) -> AIMessage:
    """Returns a reply with a mark, which is stored with it and sent to no server, and with ids of its calls.

    Each call gets an id of its own: some servers send none or repeat one, and an answer needs one.

    Args:
        reply: The reply.
        messages: The conversation before it.
        mark: The mark.
    """
    taken, calls = {call["id"] for each in messages for call in _list_calls(each)}, list[object]()
    for call in _list_calls(reply):
        call_id = call["id"] if call["id"] and call["id"] not in taken else uuid4().hex
        taken = {*taken, call_id}
        calls.append({**call, "id": call_id})
    valid = len(reply.tool_calls)
    update = {
        "response_metadata": {**reply.response_metadata, _REPLY_MARK: mark},
        "tool_calls": calls[:valid],
        "invalid_tool_calls": calls[valid:],
    }
    return reply.model_copy(update=update)


def _list_calls(message: BaseMessage) -> list[Mapping[str, object]]:
    calls = [*message.tool_calls, *message.invalid_tool_calls] if isinstance(message, AIMessage) else []
    return cast("list[Mapping[str, object]]", calls)


def read_reply_mark(reply: AIMessage) -> ReplyMark | None:
    """Returns the mark of a reply; None for a message of a model that is a part of the request."""
    mark = reply.response_metadata.get(_REPLY_MARK)
    return cast("ReplyMark", mark) if isinstance(mark, Mapping) else None


def find_last_reply(messages: Sequence[BaseMessage]) -> tuple[AIMessage | None, set[str]]:
    """Returns the last reply of the model, and the ids of its calls that have answers."""
    answered = set[str]()
    for message in reversed(messages):
        if isinstance(message, AIMessage):
            return message, answered
        if isinstance(message, ToolMessage):
            answered.add(message.tool_call_id)
    return None, answered


def list_earlier_replies(messages: Sequence[BaseMessage], execution: str) -> list[tuple[str, AIMessage]]:
    """Lists the replies that other executions got, with the names of their models."""
    replies = [message for message in messages if isinstance(message, AIMessage)]
    marked = [(read_reply_mark(reply), reply) for reply in replies]
    return [(mark["model"], reply) for mark, reply in marked if mark and mark["execution"] != execution]


def build_correction(text: str) -> HumanMessage:
    """Builds the message that sends a refused answer back to the model."""
    return HumanMessage(text, additional_kwargs={"lc_source": _CORRECTION})


def is_correction(message: BaseMessage) -> bool:
    """Returns whether a message sends a refused answer back, so that it begins another attempt."""
    return message.additional_kwargs.get("lc_source") == _CORRECTION


def list_refused_calls(messages: Sequence[BaseMessage]) -> set[str]:
    """Returns the ids of the calls of the attempts at the last request that were refused."""
    refused, current = set[str](), set[str]()
    for message in messages:
        if isinstance(message, HumanMessage):
            refused = refused | current if is_correction(message) else set()
            current = set()
        elif isinstance(message, AIMessage):
            current |= {str(call["id"]) for call in message.tool_calls}
    return refused
