"""The JSON objects that a reply states, read without guessing; and the values within them as plain text."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeVar

from agents.contracts import Unreadable
from agents.parsing.loose_json import load_unambiguous
from agents.parsing.objects import ReplyObjects, find_objects, is_quoted
from agents.parsing.surrogates import replace_surrogates

TEXT_LIMIT: Final = 1_000
"""Characters of one text that are kept."""

ENTRY_LIMIT: Final = 100
"""Entries of one list that are kept; the rest is counted."""

TOO_DEEP: Final = "(nested too deeply to be shown, and not read)"
"""What stands for a value whose text cannot be made; it is doubtful."""

Statement = Mapping[str, object]

T = TypeVar("T")

_NOTHING: Final = re.compile(
    r"""[\s.*_–—-]*+
    (?: none | nothing | nil | null | n/?a | no(?:\ (?:deviations?|concerns?|assumptions?))? )?
    [\s.*_–—-]*+""",
    re.IGNORECASE | re.VERBOSE,
)
_DOUBT: Final = re.compile(
    r"""</?think | n[’']t\b | \b(?:not|never|cannot|but|however|instead|stop)\b
    | \b(?:halt|reorient|ask.?human|false|reject|refus|fail|wrong|incorrect|claim|quot|exampl|pretend)""",
    re.IGNORECASE | re.VERBOSE,
)


def _decode(text: str, objects: ReplyObjects) -> list[Statement] | Unreadable:
    if not objects.written:
        return Unreadable(text, "it holds no JSON object with an answer")
    values = [load_unambiguous(written) for written in objects.written]
    statements: list[Statement] = [value for value in values if isinstance(value, dict)]
    if len(statements) < len(values):
        return Unreadable(text, "a JSON object in it is broken")
    return statements


def read_all(
    text: str,
    sign: re.Pattern[str],
    read: Callable[[Statement], T | Unreadable],
    approves: Callable[[T], bool],
    shown: Sequence[str],
) -> list[T] | Unreadable:
    """Read every object of a reply that speaks of the matter.

    Args:
        text: A model's reply.
        sign: What such an object holds.
        read: Reads one.
        approves: Whether what was read lets things pass; then nothing beside it may make it doubtful.
        shown: What the model was shown: what stands in it is no answer of its own.

    Returns:
        At least one answer, or why one of them, or the reply, is none.
    """
    objects = find_objects(text, sign)
    if isinstance(objects, Unreadable):
        return objects
    statements = _decode(text, objects)
    if isinstance(statements, Unreadable):
        return statements
    if any(is_quoted(written, shown) for written in objects.written):
        return Unreadable(text, "the answer is quoted from what was to be judged")
    values = [read(statement) for statement in statements]
    answers = [value for value in values if not isinstance(value, Unreadable)]
    if faults := [value for value in values if isinstance(value, Unreadable)]:
        return Unreadable(text, faults[0].reason)
    if doubtful(objects.rest) and any(approves(answer) for answer in answers):
        return Unreadable(text, "the text beside the answer contradicts it")
    return answers


def doubtful(text: str) -> bool:
    """Whether a text makes the approval beside it doubtful; better once too often."""
    return _DOUBT.search(text) is not None


def read_foreign(value: object, read: Callable[[Statement], T | Unreadable]) -> T | Unreadable:
    """Read what a foreign mapping states."""
    statement = statement_of(value)
    if statement is None:
        return Unreadable(f"a {type(value).__name__}", "it is no mapping of JSON values")
    answer = read(statement)
    return Unreadable(wording(statement), answer.reason) if isinstance(answer, Unreadable) else answer


def statement_of(value: object) -> Statement | None:
    """What a foreign mapping states, as JSON can hold it; None for anything else."""
    try:
        if not isinstance(value, Mapping):
            return None
        encoded = json.dumps(dict(value), default=str)
    except Exception:  # noqa: BLE001 - a foreign mapping's own code: what cannot be read states nothing
        return None
    statement = load_unambiguous(encoded)
    return statement if isinstance(statement, dict) else None


def text_at(statement: Statement, *names: str) -> str:
    """The first text under one of the names that says something, bounded; empty where none does."""
    texts = (wording(statement.get(name)) for name in names)
    return next((text for text in texts if text), "")


def entries_at(statement: Statement, name: str) -> list[str] | None:
    """The texts of a list (or of one text in its place) that say something, bounded.

    An absent list has no entries. None where it has no readable value: null also stands for a list
    that the object names twice.
    """
    value = statement.get(name, [])
    if value is None:
        return None
    texts = [text for item in (value if isinstance(value, list) else [value]) if (text := wording(item))]
    if len(texts) <= ENTRY_LIMIT:
        return texts
    return [*texts[:ENTRY_LIMIT], f"(and {len(texts) - ENTRY_LIMIT} more)"]


def wording(value: object) -> str:
    """A decoded value as bounded text; empty for what says nothing, such as null, false or "none"."""
    text = value if isinstance(value, str) else encoded(value)
    text = replace_surrogates(text).strip()
    return "" if _NOTHING.fullmatch(text) else excerpt(text, TEXT_LIMIT)


def excerpt(text: str, limit: int) -> str:
    """The first ``limit`` characters, the last of them an ellipsis where something was left out."""
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def encoded(value: object) -> str:
    """A decoded value as JSON; empty for what is empty itself."""
    if value is None or value is False or value in ([], {}):
        return ""
    try:
        return json.dumps(value, ensure_ascii=False)
    except RecursionError:
        return TOO_DEEP
