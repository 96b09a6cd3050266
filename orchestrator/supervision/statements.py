"""The JSON objects that a reply states, read without guessing; and the values within them as plain text."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

from agents.contracts import Unreadable
from agents.parsing.loose_json import containers, load_unambiguous, respelled
from agents.parsing.replies import cut_within_object, unquoted, without_thoughts
from agents.parsing.well_formed import well_formed

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
_SPELLING: Final = re.compile(r"""[\s"'\\]+""")


@dataclass(frozen=True, slots=True)
class Stated:
    """The objects of a reply that speak of the matter, as decoded and as written, and what is beside them."""

    objects: Sequence[Statement]
    written: Sequence[str]
    beside: str


def stated(text: str, sign: re.Pattern[str]) -> Stated | Unreadable:
    """Find the objects of a reply in which ``sign`` is found.

    Args:
        text: A model's reply, with or without its thoughts.
        sign: What an object that speaks of the matter holds.

    Returns:
        At least one object; or why there is none, or one of them cannot be read as it stands.
    """
    answer = without_thoughts(text)
    if cut_within_object(text, answer):
        return Unreadable(text, "a JSON object is cut in two")
    document = unquoted(answer)
    written, beside, at = [], "", 0
    for span in containers(document):
        if span is None:
            return Unreadable(text, "a JSON object is cut off")
        if sign.search(document, *span):
            written.append(document[slice(*span)])
            beside += document[at : span[0]]
            at = span[1]
    return _decoded(text, written, beside + document[at:])


def _decoded(text: str, written: Sequence[str], beside: str) -> Stated | Unreadable:
    if not written:
        return Unreadable(text, "it holds no JSON object with an answer")
    objects = [found for each in written if (found := _object(each)) is not None]
    if len(objects) < len(written):
        return Unreadable(text, "a JSON object in it is broken")
    return Stated(objects, written, beside)


def _object(written: str) -> Statement | None:
    value = load_unambiguous(written)
    if value is None:
        value = load_unambiguous(respelled(written))
    return value if isinstance(value, dict) else None


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
    found = stated(text, sign)
    if isinstance(found, Unreadable):
        return found
    if _quoted(found, shown):
        return Unreadable(text, "the answer is quoted from what was to be judged")
    values = [read(statement) for statement in found.objects]
    answers = [value for value in values if not isinstance(value, Unreadable)]
    if faults := [value for value in values if isinstance(value, Unreadable)]:
        return Unreadable(text, faults[0].reason)
    if doubtful(found.beside) and any(approves(answer) for answer in answers):
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
    return _object(encoded)


def _quoted(found: Stated, shown: Sequence[str]) -> bool:
    """Whether an object of a reply stands in a text that was shown, however it is spaced or quoted."""
    texts = [_spelled(text) for text in shown]
    return any(_spelled(each) in text for each in found.written for text in texts)


def boolean_of(value: object) -> bool | None:
    """A boolean, or the word for one; None for anything else."""
    if isinstance(value, str):
        return {"true": True, "false": False}.get(value.strip().lower())
    return value if isinstance(value, bool) else None


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
    text = well_formed(text).strip()
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


def _spelled(text: str) -> str:
    return _SPELLING.sub("", text).casefold()
