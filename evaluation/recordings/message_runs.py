"""Makes a recorded run of messages, and lists the parts of the messages that the run does not hold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final

from evaluation.importers.imported_conversation import Conversation, read_conversation
from evaluation.importers.imported_message import Message
from evaluation.importers.known_formats import list_unread
from evaluation.importers.langchain import dump_message
from evaluation.inputs.messages import build_run
from evaluation.recordings.recorded_run import RecordedRun
from evaluation.sensitive.quoting import shorten
from evaluation.values import JsonObject, as_object

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
        warnings: Parts of the file beside the messages that are not read.
        failed: As of ``run_from_messages``.

    Raises:
        ContractError: A message is in no known format.
    """
    log = [dump_message(message) for message in messages]
    conversation = read_conversation(log)
    run = {**build_run(log, conversation, failed), **_sum_tokens(conversation.messages), **(fields or {})}
    named = {"case_id": case_id} if case_id and isinstance(case_id, str) else {}
    return RecordedRun({**named, "agent_run": run}, (*warnings, *list_losses(conversation)))


def list_losses(conversation: Conversation) -> Iterator[str]:
    """Yields one sentence for each kind of thing in messages that is not read, or that they lack."""
    unread = Counter(name for message in conversation.messages for name in list_unread(message))
    yield from (f"{name} are not read ({count})" for name, count in unread.items())
    open_calls = [each.call.name for each in conversation.calls if each.answer is None]
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
