"""Reads a plan from a model's reply. Never raises."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby
from typing import Final

from agents.parsing.loose_json import find_containers, load_json, repair_json, replace_surrogates
from agents.parsing.objects import remove_thoughts, unwrap_fence
from agents.reply_types import Unreadable

_JSON_START: Final = re.compile(r"""[\[{]\s*(?:["'\[{]|\w+\s*:)""")
_PLAN_SIGN: Final = re.compile(r"plan|steps|\\u", re.IGNORECASE)
_PLAN_KEYS: Final = ("plan", "steps")
_STEP_KEYS: Final = (
    "description", "step", "task", "title", "objective", "action", "name", "instruction", "details"
)  # fmt: skip
_CALL_KEYS: Final = frozenset({"arguments", "function", "tool_calls", "function_call"})
"""Keys of an object that calls a tool."""
_LABEL: Final = re.compile(r"[\W\d_]*+(?:step[\W\d_]*+)?+", re.IGNORECASE)
"""A text that only numbers a step, such as "1" or "Step 1:"."""
_NUMBERED: Final = re.compile(
    r"^[ \t]*(?:#{1,6}[ \t]+)?(?:\*\*|__)?(?:step[ \t]+)?\(?\d{1,4}(?:\*\*|__)?[.):](?:\*\*|__)?[ \t]+(?=\S)",
    re.IGNORECASE | re.MULTILINE,
)
_BULLETED: Final = re.compile(r"^[ \t]*[-*•–+][ \t]+(?=\S)", re.MULTILINE)


def read_plan(text: str) -> list[str] | Unreadable:
    """Reads a plan from ``{"plan": [...]}``, ``{"steps": [...]}``, a bare list or a list in plain text.

    Args:
        text: A model's reply.

    Returns:
        The steps in order, each stripped and not empty (an empty list if the plan is empty), and once if
        several in a row say the same; or the reason if the reply contains no list.
    """
    document = remove_thoughts(text)
    readings = (_read_steps(value) for value in _iter_json_values(document))
    steps = next((steps for steps in readings if steps is not None), None)
    if steps is None:
        steps = _read_plain_list(document)
    if steps is None:
        return Unreadable(text, "no list of steps")
    return [next(same) for _, same in groupby(steps, lambda step: step.casefold().rstrip(".!").split())]


def is_data(text: str) -> bool:
    """Returns whether a reply is data, such as a tool call or an object, and nothing that a step could be."""
    document = unwrap_fence(remove_thoughts(text))
    return document.startswith("<tool_call") or isinstance(load_json(document), dict | list)


def _iter_json_values(text: str) -> Iterator[object]:
    """The JSON values that the text may contain, the likeliest first and a guess last."""
    document = load_json(text)
    if document is not None:
        yield document
        return
    spans = [text[slice(*span)] for span in find_containers(text) if span]
    plans = [span for span in spans if span[0] == "{" and _PLAN_SIGN.search(span)]
    for span in [*plans, *(span for span in spans if span[0] == "[")]:
        yield load_json(span, any_case=True)
    if start := _JSON_START.search(text):
        yield repair_json(text[start.start() :])


def _read_steps(value: object) -> list[str] | None:
    """Reads the steps of a decoded reply, a list or an object with one. Returns None if it is no plan."""
    if isinstance(value, dict):
        return next((_read_plan_value(value[key]) for key in _PLAN_KEYS if key in value), None)
    if not isinstance(value, list):
        return None
    steps = [step for item in value if (step := _read_step(item)) is not None]
    # All or none: a plan that lost a step would look complete.
    return [step for step in steps if step] if len(steps) == len(value) else None


def _read_plan_value(value: object) -> list[str] | None:
    """Reads the value of the plan's key: a list; or, from weaker models, a text or numbered entries."""
    if isinstance(value, str):
        return _read_plain_list(value) or _read_steps([value])
    if isinstance(value, dict):
        return _read_steps(value) or _read_steps([*value.values()])
    return _read_steps(value)


def _read_step(item: object) -> str | None:
    """Reads one step. Returns None if the item cannot be a step."""
    if isinstance(item, dict):
        if _CALL_KEYS & item.keys():
            return None
        texts = [item[key] for key in _STEP_KEYS if isinstance(item.get(key), str)]
        empty = next((text for text in texts if not text.strip()), None)
        item = next((text for text in texts if not _LABEL.fullmatch(text)), empty)
    return replace_surrogates(item).strip() if isinstance(item, str) else None


def _read_plain_list(text: str) -> list[str] | None:
    """Reads a numbered list, or else a bulleted one. Returns None if there is none.

    Each entry is one line with its continuation lines joined.
    """
    marks = list(_NUMBERED.finditer(text)) or list(_BULLETED.finditer(text))
    ends = [*(mark.start() for mark in marks[1:]), len(text)]
    entries = [text[mark.end() : end].split("\n\n", 1)[0] for mark, end in zip(marks, ends, strict=False)]
    return [step for entry in entries if (step := _read_entry(entry))] or None


def _read_entry(text: str) -> str:
    entry = " ".join(text.split())
    # Of bold text that began before the number, the end is left.
    return entry.replace("**", "", 1).strip() if entry.count("**") % 2 else entry
