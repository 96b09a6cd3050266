"""Makes a run of recorded messages, and reads the texts of the assistant."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

from evaluation.importers.imported_conversation import Conversation, RecordedCall, read_conversation
from evaluation.importers.imported_message import content_texts
from evaluation.importers.langchain import dump_message
from evaluation.values import JsonObject, as_list

_GIVING_ROLES: Final = frozenset({"user", "system", "developer"})
"""The roles whose messages give an assistant what it needs to know."""


def assistant_parts(messages: object) -> Iterator[list[str]]:
    """Yield the texts of each message of the assistant: one, or one for each part."""
    for message in messages if isinstance(messages, list) else ():
        if isinstance(message, dict) and message.get("role") == "assistant":
            yield list(content_texts(message.get("content")))


def list_given_texts(run: JsonObject) -> list[str]:
    """List the texts that a run was given besides its input: its sources, and messages of the user."""
    messages = [each for each in as_list(run.get("messages")) if isinstance(each, dict)]
    asked = [each for each in messages if each.get("role") in _GIVING_ROLES]
    texts = [text for message in asked for text in content_texts(message.get("content"))]
    return [*map(str, as_list(run.get("sources"))), *texts]


def run_from_messages(
    messages: Iterable[object], *, failed: Callable[[str], bool] | None = None
) -> JsonObject:
    """Convert a conversation to an ``agent_run``.

    Each answer belongs to the nearest call before it that has no answer: the one with its id if ids are
    recorded, else the first of the message.

    Args:
        messages: Messages of OpenAI (chat, or items of the Responses API), Anthropic, Gemini or LangChain, as
            plain objects, as the objects of these libraries, or as LangChain's dumps of them.
        failed: Returns whether the answer of a tool is an error. An answer that its format marks as an error
            is one in any case.

    Returns:
        An ``agent_run`` with the first text of the user as input, the tool calls with their answers, and the
        conversation.

    Raises:
        ContractError: A message is in no known format.
    """
    log = [dump_message(message) for message in messages]
    return build_run(log, read_conversation(log), failed)


def build_run(
    log: Sequence[object], conversation: Conversation, failed: Callable[[str], bool] | None = None
) -> JsonObject:
    """Build the ``agent_run`` of messages that were read; see ``run_from_messages``."""
    return {
        "input": next((each.text for each in conversation.messages if each.role == "user"), ""),
        "messages": log,
        "tool_calls": convert_calls(conversation, failed),
    }


def convert_calls(
    conversation: Conversation, failed: Callable[[str], bool] | None = None
) -> list[JsonObject]:
    """Write the calls of a conversation as the ``tool_calls`` of a run; parallel ones name their message."""
    calls_of = Counter(recorded.message for recorded in conversation.calls)
    calls = [
        (recorded.message, {**_convert_call(recorded, failed), **_name_agent(conversation, recorded)})
        for recorded in conversation.calls
    ]
    return [{**call, "message": message} if calls_of[message] > 1 else call for message, call in calls]


def _name_agent(conversation: Conversation, recorded: RecordedCall) -> JsonObject:
    """Return the agent that frameworks write as the name of a message."""
    message = conversation.messages[recorded.message].plain
    name = message.get("name")
    # An item of the Responses API has no content, and names its tool.
    return {"agent": name} if isinstance(name, str) and name and message.get("content") is not None else {}


def _convert_call(recorded: RecordedCall, failed: Callable[[str], bool] | None) -> JsonObject:
    call, answer = recorded.call, recorded.answer
    return {
        "name": call.name,
        "args": call.args,
        "result": answer and answer.value,
        "error": answer is not None
        and (answer.is_error or (failed is not None and failed(_as_text(answer.value)))),
    }


def _as_text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
