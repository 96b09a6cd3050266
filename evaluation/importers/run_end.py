"""Calls that end a run: a finish call, which may have the answer as an argument, and a hand-over."""

from __future__ import annotations

from typing import Final

from agents.parsing.tool_names import split_name
from evaluation.importers.imported_message import is_visible, parse_arguments
from evaluation.importers.known_formats import Conversation, RecordedCall

_FINISH: Final = frozenset({"finish", "final", "submit", "terminate", "exit", "done", "completion"})
_TASK_ENDS: Final = ({"task", "complete"}, {"give", "answer"}, {"end", "task"}, {"end", "conversation"})
_HAND: Final = frozenset({"transfer", "handoff", "handover", "escalate", "hand"})
_TO_PEOPLE: Final = frozenset(
    {"human", "humans", "agent", "agents", "person", "operator", "support", "representative"}
)
_ANSWERS: Final = (
    "final_answer", "answer", "output", "result", "response", "message", "text", "content", "submission",
    "thought",
)  # fmt: skip
"""The arguments of a finish call that may be the answer, the likeliest first."""


def ends_run(name: str) -> bool:
    """Return whether a call of this name ends a run without a reply."""
    words = {*split_name(name)}
    is_finish = bool(words & _FINISH) or any(each <= words for each in _TASK_ENDS)
    return is_finish or bool(words & _HAND and words & _TO_PEOPLE)


def ends_with_question(conversation: Conversation) -> bool:
    """Return whether the last message is a question of the user, which nobody has answered yet."""
    last = conversation.messages[-1] if conversation.messages else None
    return last is not None and last.role == "user" and last.text.rstrip().endswith(("?", "？"))


def read_last_answer(conversation: Conversation) -> str:
    """Return the answer of a conversation: of its finish call, else the last text of the assistant."""
    calls = [] if conversation.has_reply else conversation.last_calls if conversation.calls else []
    stated = [text for call in calls if ends_run(call.call.name) and (text := _read_argument(call))]
    texts = (each.text for each in reversed(conversation.messages) if each.role == "assistant")
    return next(iter(stated), None) or next(filter(is_visible, texts), "")


def _read_argument(recorded: RecordedCall) -> str:
    args = parse_arguments(recorded.call.args)
    values = [args.get(name) for name in _ANSWERS] if isinstance(args, dict) else []
    return next((value for value in values if isinstance(value, str) and is_visible(value)), "")
