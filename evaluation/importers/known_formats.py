"""The known formats of messages, and how a message is read with all of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Final, NamedTuple

from evaluation.importers.anthropic import ANTHROPIC
from evaluation.importers.gemini import GEMINI
from evaluation.importers.imported_message import (
    Call,
    Importer,
    Message,
    UnknownFormatError,
    list_keys,
    parse_arguments,
)
from evaluation.importers.langchain import LANGCHAIN
from evaluation.importers.openai_chat import OPENAI_CHAT
from evaluation.importers.openai_responses import OPENAI_RESPONSES
from evaluation.importers.unread import check_fields
from evaluation.values import JsonObject

IMPORTERS: Final[Sequence[Importer]] = (GEMINI, OPENAI_RESPONSES, OPENAI_CHAT, ANTHROPIC, LANGCHAIN)
"""Every importer reads every message, because providers and frameworks mix their formats."""
ACCEPTED: Final = ", ".join(sorted(importer.title for importer in IMPORTERS))
"""The formats in words."""
_KEYS: Final = frozenset().union(*(importer.keys for importer in IMPORTERS))
_PARTS: Final = frozenset().union(*(importer.parts for importer in IMPORTERS))
_PLAIN_ROLES: Final = ("user", "assistant", "system")


def read_message(message: object) -> Message:
    """Read a message of any known format.

    Raises:
        UnknownFormatError: It is in no known format, or a part of it is.
    """
    if not isinstance(message, dict):
        raise UnknownFormatError(f"is a {type(message).__name__}, not an object")
    if _is_plain_text(message):
        return Message(message["role"], message)
    opened = next(filter(None, (importer.open(message) for importer in IMPORTERS)), None)
    if opened is None:
        raise UnknownFormatError(f"is in no known format ({list_keys(message)})")
    role = str(opened["role"])
    if role == "assistant":
        check_fields(opened, _KEYS, _PARTS)
    calls = _merge_calls(importer.calls(opened) for importer in IMPORTERS)
    if calls and role != "assistant":
        raise UnknownFormatError(f"has a tool call, although its role is {role!r}")
    answers = tuple(answer for importer in IMPORTERS for answer in importer.answers(opened))
    # Anthropic and Gemini send the answers of tools in the name of the user.
    if answers and role == "user":
        role, opened = "tool", {**opened, "role": "tool"}
    return Message(role, opened, calls, answers)


def _is_plain_text(message: JsonObject) -> bool:
    # Most messages are, and reading them costs little if no importer has to look at them.
    return (
        message.keys() == {"role", "content"}
        and message["role"] in _PLAIN_ROLES
        and isinstance(message["content"], str)
    )


def _merge_calls(notations: Iterable[Iterable[Call]]) -> tuple[Call, ...]:
    """Join the calls of all notations; one call that is written in two notations is one call."""
    calls: list[_Parsed] = []
    for notation in notations:
        unclaimed: defaultdict[str | None, list[_Parsed]] = defaultdict(list)
        for known in calls:
            unclaimed[known.call.id].append(known)
        for call in notation:
            parsed = _Parsed(call, parse_arguments(call.args))
            ids = (call.id, None) if call.id else tuple(unclaimed)
            others = chain.from_iterable(unclaimed[each] for each in ids)
            same = next((other for other in others if _is_same(parsed, other)), None)
            if same is None:
                calls.append(parsed)
            else:
                unclaimed[same.call.id].remove(same)
    return tuple([parsed.call for parsed in calls])


class _Parsed(NamedTuple):
    call: Call
    args: object


def _is_same(parsed: _Parsed, known: _Parsed) -> bool:
    (call, args), (other, others) = parsed, known
    if call.name != other.name or (call.id and other.id and call.id != other.id):
        return False
    # The parts of a streamed message may lack their arguments.
    return args == others or (call.id == other.id and not (args and others))
