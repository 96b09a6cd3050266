"""A recorded conversation: its messages, and each tool call with its answer."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

from evaluation.errors import ContractError
from evaluation.importers.imported_message import Answer, Call, Message, UnknownFormatError
from evaluation.importers.known_formats import ACCEPTED, read_message


@dataclass(frozen=True, slots=True)
class RecordedCall:
    """A call, its message's position and its answer; None if no message answers it."""

    message: int
    call: Call
    answer: Answer | None


class _Waiting(NamedTuple):
    """A call with the positions of its message and of itself."""

    message: int
    position: int
    call: Call


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
    def ends_with_user(self) -> bool:
        """Whether the agent has not replied to the last message of the user."""
        return [each.role for each in self.messages if each.role in {*_AGENT_ROLES, "user"}][-1:] == ["user"]

    @property
    def last_calls(self) -> list[RecordedCall]:
        """The calls of the last message that holds any."""
        return [each for each in self.calls if each.message == self.calls[-1].message]

    @property
    def output(self) -> str:
        """The text of the assistant's last message."""
        return next((each.text for each in reversed(self.messages) if each.role == "assistant"), "")

    @property
    def is_whole(self) -> bool:
        """Whether it begins with the request and ends with the reply of the assistant."""
        roles = [each.role for each in self.messages]
        return roles[:1] in (["user"], ["system"]) and self.has_reply


_AGENT_ROLES = frozenset({"assistant", "tool"})


def read_conversation(messages: Iterable[object]) -> Conversation:
    """Read the messages of a run, in any mixture of known formats.

    Raises:
        ContractError: A message is in no known format; the error names it and the accepted formats.
    """
    read = tuple(_read_at(index, message) for index, message in enumerate(messages))
    turns = _number_turns(read)
    made = [(turns[index], call) for index, message in enumerate(read) for call in message.calls]
    waiting = [_Waiting(index, position, call) for position, (index, call) in enumerate(made)]
    answers, orphans = _pair_answers(read, waiting)
    calls = tuple(
        RecordedCall(each.message, each.call, answers.get(each.position, each.call.answer))
        for each in waiting
    )
    return Conversation(read, calls, orphans)


def _number_turns(messages: Sequence[Message]) -> list[int]:
    """Return for each message the first one of its turn: items of the Responses API hold one call each."""
    turns: list[int] = []
    for index, message in enumerate(messages):
        follows = index > 0 and message.is_call_item and messages[index - 1].is_call_item
        turns.append(turns[-1] if follows else index)
    return turns


def _read_at(index: int, message: object) -> Message:
    try:
        return read_message(message)
    except UnknownFormatError as error:
        raise ContractError(f"messages[{index}] {error}; give messages of {ACCEPTED}") from None


def _pair_answers(
    messages: Sequence[Message], made: Sequence[_Waiting]
) -> tuple[dict[int, Answer], tuple[int, ...]]:
    """Pair each answer with the nearest call before it that has no answer.

    Returns:
        The answers by the position of the call, and the positions of the messages whose answer has no call.
    """
    waiting: defaultdict[str | None, list[_Waiting]] = defaultdict(list)
    answers: dict[int, Answer] = {}
    orphans: list[int] = []
    upcoming = deque(each for each in made if each.call.answer is None)
    answered = {each.call.id for each in made if each.call.answer is not None} - {None}
    for index, message in enumerate(messages):
        while upcoming and upcoming[0].message == index:
            call = upcoming.popleft()
            waiting[call.call.id].append(call)
        for answer in message.answers:
            match = _find_call(answer, waiting)
            if match is None and answer.id not in answered:
                orphans.append(index)
            elif match is not None:
                waiting[match.call.id].remove(match)
                answers[match.position] = answer
    return answers, tuple(orphans)


def _find_call(answer: Answer, waiting: Mapping[str | None, list[_Waiting]]) -> _Waiting | None:
    """Find the call that an answer belongs to: by its id, or among the calls whose id leaves it open."""
    same_id = waiting.get(answer.id) if answer.id else None
    open_calls = waiting.get(None, []) if answer.id else sorted(chain.from_iterable(waiting.values()))
    fitting = same_id or [each for each in open_calls if answer.name in {None, each.call.name}]
    # Parallel calls of one message are answered from the first on.
    return fitting[bisect_left(fitting, (fitting[-1].message,))] if fitting else None
