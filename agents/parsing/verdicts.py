"""Reads a verdict from a model's reply. Fails closed, and never raises."""

from __future__ import annotations

import json
import re
from typing import Final

from agents.contracts import Unreadable, Verdict
from agents.parsing.denials import find_denial
from agents.parsing.loose_json import (
    find_containers,
    fold_object,
    load_json,
    load_or_repair,
    read_boolean,
    replace_surrogates,
)
from agents.parsing.objects import find_objects

# An escape may spell a key, so the object has to be decoded before it can be passed over.
_VERDICT_SIGN: Final = re.compile(r"success|feedback|\\u", re.IGNORECASE)
_DOUBT: Final = re.compile(
    r"""<think | success\W{0,6}+(?:is|should\sbe|=)?+\W{0,6}+false | \bnot\s(?:met|approved|a\ssuccess)
    | \bverdict\W{1,6}+fail | \brefused\b | \bfailed\b""",
    re.IGNORECASE | re.VERBOSE,
)


def read_verdict(text: str) -> Verdict | Unreadable:
    """Reads a verdict.

    A success needs a complete JSON object that states it, and nothing in the reply that contradicts it. A
    reply is unreadable if an object is cut off, if an object mentions success or feedback and is no verdict,
    if two verdicts differ, or if the value is neither a boolean nor the word "true" or "false".

    Args:
        text: A model's reply.

    Returns:
        The verdict, or the reason if none can be read.
    """
    objects = find_objects(text, _VERDICT_SIGN)
    if objects is None:
        return Unreadable(text, "a JSON object is cut off")
    written, rest = objects
    readings = [_read_container(each) for each in written]
    verdicts = [verdict for stated in readings for verdict in stated or ()]
    if None in readings:
        return Unreadable(text, "no single boolean 'success' in a JSON object")
    if not verdicts:
        return Unreadable(text, "no JSON object with a boolean 'success'")
    if len({verdict["success"] for verdict in verdicts}) > 1:
        return Unreadable(text, "two verdicts that contradict each other")
    # Only a success is doubted: a failure is the safe reading.
    if verdicts[-1]["success"] and _denies(rest):
        return Unreadable(text, "the text beside the verdict contradicts it")
    return verdicts[-1]


def _denies(rest: str) -> bool:
    """Checks whether the text around a success contradicts it, in words or in another object."""
    others = (load_json(rest[slice(*span)]) for span in find_containers(rest) if span)
    return _DOUBT.search(rest) is not None or any(map(find_denial, others))


def _read_container(written: str) -> list[Verdict] | None:
    """Reads the verdicts of an object or list. Returns None if one of them is unreadable."""
    value, is_guess = load_or_repair(written)
    items = [_read_item(item) for item in (value if isinstance(value, list) else [value])]
    verdicts = [item for item in items if item is not None]
    # A guess is good enough for a failure, never for a success.
    is_unfit = is_guess and any(verdict["success"] for verdict in verdicts)
    return verdicts if len(verdicts) == len(items) and not is_unfit else None


def _read_item(value: object) -> Verdict | None:
    try:
        fields = fold_object(value.items()) if isinstance(value, dict) else {}
    except ValueError:
        return None
    success = read_boolean(fields.get("success"))
    if success is None or (success and (find_denial(value) is not None or not _is_json(value))):
        return None
    return Verdict(success=success, feedback=_read_feedback(fields.get("feedback")))


def _is_json(value: object) -> bool:
    """Checks that a value has no NaN and no infinity, which the JSON decoder of Python accepts."""
    try:
        json.dumps(value, allow_nan=False)
    except ValueError:
        return False
    return True


def _read_feedback(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return "" if value is None else replace_surrogates(text)
