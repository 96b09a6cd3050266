"""A recorded run as a case, the seam of formats, and the run that a list of messages makes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from evaluation.importers.conversation import Conversation, build_run, ends_run, read_conversation
from evaluation.importers.imported_message import Message, dump_message
from evaluation.importers.known_formats import list_unread
from evaluation.sensitive.scanner import shorten
from evaluation.values import JsonObject, as_object


@dataclass(frozen=True, slots=True)
class RecordedRun:
    """A run that was read from a file.

    Attributes:
        case: The case without a contract, or with the contract of the file: the fields of an EvaluationCase.
        warnings: Parts of the file that the case does not have, one sentence each.
        trial: Number of the run among the runs of its case, from 0.
        arm: The model or the policy under comparison, if the file names one.
        source: The object of the file that the run was read from, which may have labels besides.
        operation: The ``trace_id``, ``span_id`` and ``response_id`` of the span that the run was read from.
        conversation: The messages of the case as they were read, so that ``read_case`` need not read them.
    """

    case: JsonObject
    warnings: tuple[str, ...] = ()
    trial: int = 0
    arm: str = ""
    source: JsonObject = field(default_factory=dict)
    operation: Mapping[str, str] = field(default_factory=dict)
    conversation: Conversation | None = None


@dataclass(frozen=True, slots=True)
class RunFormat:
    """A format of recorded runs.

    Attributes:
        name: The name in messages, such as "ATIF trajectory".
        read: Yields the runs of a value; raises ContractError with one sentence if it cannot be read.
        marks: An object in this format has all fields of one of these sets; empty for a list.
        test: Returns something true if a value with such fields is in this format. Default: it is.
        joins: Whether a run may be in several values of a file, so that ``read`` takes all of them as a list.
    """

    name: str
    read: Callable[[Any], Iterator[RecordedRun]]
    marks: tuple[frozenset[str], ...] = ()
    test: Callable[[Any], object] = bool
    joins: bool = False

    def recognises(self, value: object) -> bool:
        """Return whether a JSON value is in this format, by its fields."""
        keys = value.keys() if isinstance(value, dict) else frozenset()
        is_marked = not self.marks or any(names <= keys for names in self.marks)
        return is_marked and bool(self.test(value))


_TOKENS: Final = {
    "input_tokens": ("input_tokens", "prompt_tokens", "prompt_token_count", "promptTokenCount"),
    "output_tokens": ("output_tokens", "completion_tokens", "candidates_token_count", "candidatesTokenCount"),
}
"""The names of providers for the tokens that a model reads and writes."""


def read_message_run(
    messages: Iterable[object],
    case_id: object = None,
    fields: Mapping[str, object] | None = None,
    warnings: Iterable[str] = (),
    failed: Callable[[str], bool] | None = None,
) -> RecordedRun:
    """Makes a run of messages in any known format.

    Args:
        messages: As of ``run_from_messages``.
        case_id: Names the run, unless it is empty or no text.
        fields: Further fields of the run.
        warnings: Runs and replies of the file that are not read.
        failed: As of ``run_from_messages``.

    Raises:
        ContractError: A message is in no known format.
    """
    log = [dump_message(message) for message in messages]
    conversation = read_conversation(log)
    run = {**build_run(log, conversation, failed), **_sum_tokens(conversation.messages), **(fields or {})}
    named = {"case_id": case_id} if case_id and isinstance(case_id, str) else {}
    losses = (*warnings, *list_losses(conversation))
    return RecordedRun({**named, "agent_run": run}, losses, conversation=conversation)


def list_losses(conversation: Conversation) -> Iterator[str]:
    """Yields one sentence for each kind of thing in messages that is not read, or that they lack."""
    unread = Counter(name for message in conversation.messages for name in list_unread(message))
    yield from (f"{name} are not read ({count})" for name, count in unread.items())
    # A call that ends the run needs no answer.
    last = len(conversation.messages) - 1
    open_calls = [
        each.call.name
        for each in conversation.calls
        if each.answer is None and not (each.message == last and ends_run(each.call.name))
    ]
    if open_calls:
        names = ", ".join(dict.fromkeys(map(shorten, open_calls)))
        yield f"{len(open_calls)} of {len(conversation.calls)} calls have no answer: {names}"
    if conversation.orphans:
        yield f"{len(conversation.orphans)} answers belong to no call"


def read_tokens(usage: object) -> dict[str, int]:
    """Returns ``input_tokens``, ``output_tokens`` and their sum from a report of a provider."""
    reported = as_object(usage)
    read = {
        name: next((count for each in names if isinstance(count := reported.get(each), int)), None)
        for name, names in _TOKENS.items()
    }
    known = {name: count for name, count in read.items() if count is not None}
    return {**known, "total_tokens": sum(known.values())} if len(known) == len(_TOKENS) else known


def _sum_tokens(messages: Iterable[Message]) -> JsonObject:
    # A sum without a message would be too low.
    replies = [read_tokens(each.plain.get("usage_metadata")) for each in messages if each.role == "assistant"]
    sums = Counter[str]()
    for reply in replies:
        sums.update(reply)
    return dict(sums) if all(replies) else {}
