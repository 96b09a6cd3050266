"""Reads the messages of a run as a conversation: its calls, their answers, its end, and the run."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from agents.parsing.tool_names import split_name
from evaluation.errors import ContractError
from evaluation.importers.imported_message import (
    Answer,
    Call,
    Message,
    UnknownFormatError,
    dump_message,
    format_text,
    is_visible,
    parse_arguments,
)
from evaluation.importers.known_formats import ACCEPTED, read_message
from evaluation.values import JsonObject, number_neighbours


@dataclass(frozen=True, slots=True)
class RecordedCall:
    """A call, its message's position and its answer; None if no message answers it."""

    message: int
    call: Call
    answer: Answer | None


@dataclass(frozen=True, slots=True)
class Conversation:
    """The messages of a run."""

    messages: tuple[Message, ...]
    calls: tuple[RecordedCall, ...]
    orphans: tuple[int, ...]
    """The positions of messages with an answer to a call that no message before them makes."""

    @property
    def is_recorded(self) -> bool:
        """Whether it holds anything of the agent."""
        return any(each.role in _AGENT_ROLES for each in self.messages)

    @property
    def _last(self) -> Message | None:
        """The last message of the agent or of its tools."""
        return next((each for each in reversed(self.messages) if each.role in _AGENT_ROLES), None)

    @property
    def cut_off(self) -> str | None:
        """The reason why the provider cut the last reply off; None if it did not."""
        last = self._last
        return last.cut_off if last is not None and last.role == "assistant" else None

    @property
    def ends_with_call(self) -> bool:
        """Whether the agent ended with a call or the answer to one; an empty reply is an end."""
        last = self._last
        return last is not None and (last.role == "tool" or bool(last.calls))

    @property
    def has_reply(self) -> bool:
        """Whether the agent ended with a reply, and not with a call or the answer to one."""
        last = self._last
        if last is None or last.role == "tool":
            return False
        # A provider's server answers its own tools within the message.
        own = [each for each in self.calls if self.messages[each.message] is last]
        return last.ends_with_reply and all(each.answer is not None for each in own)

    @property
    def last_calls(self) -> list[RecordedCall]:
        """The calls of the last message that holds any."""
        return [each for each in self.calls if each.message == self.calls[-1].message]


_AGENT_ROLES = frozenset({"assistant", "tool"})


def read_conversation(messages: Iterable[object]) -> Conversation:
    """Read the messages of a run, in any mixture of known formats.

    Raises:
        ContractError: A message is in no known format; the error names it and the accepted formats.
    """
    read = tuple(_read_at(index, message) for index, message in enumerate(messages))
    # Items of the Responses API hold one call each.
    turns = number_neighbours(read, lambda before, each: before.is_call_item and each.is_call_item)
    made = [(turns[index], call) for index, message in enumerate(read) for call in message.calls]
    answers, orphans = _pair_answers(read, made)
    calls = tuple(
        RecordedCall(message, call, answers.get(position, call.answer))
        for position, (message, call) in enumerate(made)
    )
    return Conversation(read, calls, orphans)


def _read_at(index: int, message: object) -> Message:
    try:
        return read_message(message)
    except UnknownFormatError as error:
        raise ContractError(f"messages[{index}] {error}; give messages of {ACCEPTED}") from None


def _pair_answers(
    messages: Sequence[Message], made: Sequence[tuple[int, Call]]
) -> tuple[dict[int, Answer], tuple[int, ...]]:
    """Pair each answer with the nearest call before it that has no answer.

    Args:
        messages: The messages.
        made: The calls, each with the position of its message.

    Returns:
        The answers by the position of the call, and the positions of the messages whose answer has no call.
    """
    answers: dict[int, Answer] = {}
    orphans: list[int] = []
    waiting: list[int] = []
    open_calls = deque(place for place, (_, call) in enumerate(made) if call.answer is None)
    answered = {call.id for _, call in made if call.answer is not None} - {None}
    for index, message in enumerate(messages):
        while open_calls and made[open_calls[0]][0] == index:
            waiting.append(open_calls.popleft())
        for answer in message.answers:
            position = _find_call(answer, waiting, made)
            if position is not None:
                waiting.remove(position)
                answers[position] = answer
            elif answer.id not in answered:
                orphans.append(index)
    return answers, tuple(orphans)


def _find_call(answer: Answer, waiting: Sequence[int], made: Sequence[tuple[int, Call]]) -> int | None:
    """Find the call that an answer belongs to: by its id, or among the calls whose id leaves it open."""
    same_id = [each for each in waiting if answer.id and made[each][1].id == answer.id]
    fitting = same_id or [
        each
        for each in waiting
        if answer.name in {None, made[each][1].name} and not (answer.id and made[each][1].id)
    ]
    # Parallel calls of one message are answered from the first on.
    return next((each for each in fitting if made[each][0] == made[fitting[-1]][0]), None)


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
    calls = [] if conversation.has_reply else conversation.last_calls
    stated = [text for call in calls if ends_run(call.call.name) and (text := _read_argument(call))]
    texts = (each.text for each in reversed(conversation.messages) if each.role == "assistant")
    return next(iter(stated), None) or next(filter(is_visible, texts), "")


def _read_argument(recorded: RecordedCall) -> str:
    args = parse_arguments(recorded.call.args)
    values = [args.get(name) for name in _ANSWERS] if isinstance(args, dict) else []
    return next((value for value in values if isinstance(value, str) and is_visible(value)), "")


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
        and (answer.is_error or (failed is not None and failed(format_text(answer.value)))),
    }
