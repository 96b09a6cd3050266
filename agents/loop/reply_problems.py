"""Finds out why a reply without calls is no answer, and tells the model."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import takewhile
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage

from agents import prompts
from agents.errors import AgentError, ModelRefusedError, ModelUnavailableError, TextualCallError
from agents.loop.effects import find_gate, read_reply_mark
from agents.loop.tool_answers import UNKNOWN_TOOL
from agents.models.model_call import answer_text
from agents.parsing.end_reasons import (
    describe_block,
    find_message_cut_off,
    is_blocked,
    is_token_limit,
    says_call,
)
from agents.parsing.textual_calls import TELLINGS, Parameters, find_textual_call


def find_unmade_call(reply: BaseMessage, tools: Parameters, made: Collection[str] = ()) -> str | None:
    """Finds a call that a reply has in another place than its calls, so that it is not made.

    It stands in the text, or in the field that OpenAI's protocol had first; or the server says that there is
    a call, and did not read it.

    Args:
        reply: The reply.
        tools: The names of the parameters of each tool.
        made: The names of the tools that were called before.

    Returns:
        The name of the tool; None if there is no such call.
    """
    if not isinstance(reply, AIMessage) or reply.tool_calls or reply.invalid_tool_calls:
        return None
    # The calls of a reply that was blocked are dropped.
    if is_blocked(find_message_cut_off(reply) or ""):
        return None
    first = reply.additional_kwargs.get("function_call")
    if isinstance(first, Mapping):
        return str(first.get("name") or UNKNOWN_TOOL)
    call = find_textual_call(answer_text(reply), tools, made)
    return UNKNOWN_TOOL if call is None and says_call(reply.response_metadata) else call


def tell_reply(messages: Sequence[BaseMessage]) -> dict[str, Any] | None:
    """Tells the model that its last reply is no answer, a few times in a row."""
    # What the model was told stands between its replies.
    problems = [*takewhile(bool, map(_find_problem, messages[::-2]))]
    if (first := next(iter(problems), None)) is None:
        return None
    text, error = first
    if len(problems) > TELLINGS or isinstance(error, ModelRefusedError):
        raise error
    return {"jump_to": "model", "messages": [build_correction(text)]}


def _find_problem(reply: BaseMessage) -> tuple[str, AgentError] | None:
    """Returns the message about a reply that is no answer, and the error if the message does not help."""
    mark = read_reply_mark(reply) if isinstance(reply, AIMessage) else None
    if mark is None or (find_gate() is not None and "unmade" not in mark):
        return None  # a run sees itself why an output is cut off
    if (call := mark.get("unmade")) is not None:
        return prompts.tell_textual_call(call), TextualCallError(call)
    reason = find_message_cut_off(reply)
    if reason is None:
        return None
    if not is_token_limit(reason):
        return "", ModelRefusedError(describe_block(reason))
    told = (
        f"the reply of {mark['model']} was cut off ({reason}), also after it was told; allow it more tokens"
    )
    return prompts.tell_cut_off(), ModelUnavailableError(told)


def build_correction(text: str) -> HumanMessage:
    """Builds the message that sends an answer back to the model, which is no request of the user."""
    return HumanMessage(text, additional_kwargs={"lc_source": "contract"})
