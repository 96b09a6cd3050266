"""Reads a verdict from a model's reply. Fails closed, and never raises."""

from __future__ import annotations

import json
import re
from typing import Final

from agents.contracts import Unreadable, Verdict
from agents.parsing.denials import find_denial
from agents.parsing.loose_json import load_unambiguous, read_boolean, repair_json
from agents.parsing.objects import find_objects, find_unmarked_thoughts
from agents.parsing.surrogates import replace_surrogates

# An escape may spell a key, so the object has to be decoded before it can be passed over.
_VERDICT_SIGN: Final = re.compile(r"success|feedback|\\u", re.IGNORECASE)
_DOUBT: Final = re.compile(
    r"""</?think | success\W{0,6}+(?:is|should\sbe|=)?+\W{0,6}+false | \bnot\s(?:met|approved|a\ssuccess)
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
    if isinstance(objects, Unreadable):
        return objects
    verdicts: list[Verdict] = []
    for written in objects.written:
        stated = _read_container(written)
        if stated is None:
            return Unreadable(text, "no single boolean 'success' in a JSON object")
        verdicts += stated
    if _fails_in_thoughts(text) and any(verdict["success"] for verdict in verdicts):
        return Unreadable(text, "a failure before a lone end of thoughts contradicts it")
    return _agree(text, verdicts, objects.rest)


def _fails_in_thoughts(text: str) -> bool:
    """Checks whether thoughts without an opening tag state a failure: the tag may be a quotation."""
    objects = find_objects(find_unmarked_thoughts(text), _VERDICT_SIGN)
    written = [] if isinstance(objects, Unreadable) else objects.written
    stated = (_read_container(each) or [] for each in written)
    return any(not verdict["success"] for verdicts in stated for verdict in verdicts)


def _agree(text: str, verdicts: list[Verdict], rest: str) -> Verdict | Unreadable:
    if not verdicts:
        return Unreadable(text, "no JSON object with a boolean 'success'")
    if len({verdict["success"] for verdict in verdicts}) > 1:
        return Unreadable(text, "two verdicts that contradict each other")
    # Only a success is doubted: a failure is the safe reading.
    if verdicts[-1]["success"] and _DOUBT.search(rest):
        return Unreadable(text, "the text beside the verdict contradicts it")
    return verdicts[-1]


def _read_container(written: str) -> list[Verdict] | None:
    """Reads the verdicts of an object or list. Returns None if one of them is unreadable."""
    value = load_unambiguous(written)
    if value is None:
        return _read_repaired_failure(written)
    items = [_read_item(item) for item in (value if isinstance(value, list) else [value])]
    verdicts = [item for item in items if item is not None]
    return verdicts if len(verdicts) == len(items) else None


def _read_repaired_failure(written: str) -> list[Verdict] | None:
    """Repairs a broken object: the guess is good enough for a failure, never for a success."""
    verdict = _read_item(repair_json(written))
    return None if verdict is None or verdict["success"] else [verdict]


def _read_item(value: object) -> Verdict | None:
    success = read_boolean(value.get("success")) if isinstance(value, dict) else None
    if success is None or not isinstance(value, dict):
        return None
    if success and find_denial(value) is not None:
        return None
    return Verdict(success=success, feedback=_read_feedback(value.get("feedback")))


def _read_feedback(value: object) -> str:
    if isinstance(value, str):
        return replace_surrogates(value)
    try:
        return "" if value is None else replace_surrogates(json.dumps(value, ensure_ascii=False))
    except RecursionError:
        return ""
