"""The stored form of a request that an agent made: its messages, and the calls that it consisted of."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final

from langchain_core.messages import BaseMessage, messages_from_dict, messages_to_dict
from pydantic import TypeAdapter
from typing_extensions import TypedDict

from agents.calls.conversation import Request
from agents.calls.journal import describe_request
from orchestrator.errors import BrokenRunError, ResumeError
from orchestrator.runtime.recording.recorded_calls import RecordedCalls
from orchestrator.state.plain_values import format_one_line, format_text


class JournalEntry(TypedDict):
    """A request that has ended: its messages as JSON text, and the calls that it made.

    ``request`` describes it: with other options, a resumed step makes another request at its place.
    ``failed`` says that it raised, so that the agent made another one, or gave up.
    """

    request: str
    messages: str
    calls: RecordedCalls
    failed: bool
    ended_at: str


_ENTRY: Final = TypeAdapter(JournalEntry)
_OTHER_REQUEST: Final = (
    "the step under way was begun with other tools to approve or to run once; "
    "resume it with the approve_tools, the once_tools and the tools that it was begun with"
)


def build_entry(
    request: Request,
    messages: Sequence[BaseMessage],
    calls: RecordedCalls,
    ended_at: str,
    *,
    failed: bool = False,
) -> JournalEntry:
    """Builds the entry of a request that has ended."""
    text = json.dumps(messages_to_dict(messages), default=format_text, skipkeys=True)
    described = describe_request(request)
    return JournalEntry(request=described, messages=text, calls=calls, failed=failed, ended_at=ended_at)


def read_messages(entry: JournalEntry, request: Request) -> list[BaseMessage]:
    """Returns the messages of a stored entry.

    Raises:
        BrokenRunError: The store holds something else.
        ResumeError: The entry belongs to another request.
    """
    try:
        _ENTRY.validate_python(entry, strict=True)
        messages = messages_from_dict(json.loads(entry["messages"]))
    except (ValueError, TypeError, LookupError, AttributeError) as error:
        raise BrokenRunError(
            f"the store holds a call of this step that is broken ({format_one_line(error)}); "
            "restore it, or delete the run"
        ) from error
    if entry["request"] != describe_request(request):
        raise ResumeError(_OTHER_REQUEST)
    return messages
