"""Marks the replies of a model in a stored conversation, so that calls before a crash are counted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from langchain_core.messages import AIMessage, BaseMessage
from typing_extensions import TypedDict

_MARK: Final = "orchestrator_call"


class ReplyMark(TypedDict):
    """The model that gave a reply, and the id of the execution in which it did."""

    model: str
    execution: str


def mark_reply(reply: AIMessage, model: str, execution: str) -> AIMessage:
    """Returns the reply with its mark, which is stored with it and sent to no server."""
    mark = ReplyMark(model=model, execution=execution)
    return reply.model_copy(update={"response_metadata": {**reply.response_metadata, _MARK: mark}})


def list_earlier_replies(messages: Sequence[BaseMessage], execution: str) -> list[tuple[str, AIMessage]]:
    """Lists the replies of other executions with the names of their models.

    A message of a model that is a part of the request, such as a refused output, has no mark.
    """
    replies = [message for message in messages if isinstance(message, AIMessage)]
    marked = [(reply.response_metadata.get(_MARK), reply) for reply in replies]
    return [
        (str(mark["model"]), reply)
        for mark, reply in marked
        if isinstance(mark, Mapping) and mark["execution"] != execution
    ]
