"""Reads a plan from a model's reply. It never raises, and completes no JSON that has no end."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import groupby
from typing import Final

from agents.parsing.loose_json import (
    find_containers,
    load_json,
    repair_json,
    replace_surrogates,
    unwrap_fence,
)
from agents.parsing.textual_calls import starts_with_call
from agents.parsing.thoughts import remove_thoughts
from agents.reply_types import Unreadable

NO_LIST: Final = "no list of steps"
"""The reason of a reply that may be a step by itself."""
_JSON_START: Final = re.compile(r"""[\[{]\s*(?:["'\[{]|\w+\s*:)""")
_PLAN_SIGN: Final = re.compile(r"plan|steps|\\u", re.IGNORECASE)
_PLAN_KEYS: Final = ("plan", "steps")
_STEP_KEYS: Final = (
    "description", "step", "task", "title", "objective", "action", "name", "instruction", "details"
)  # fmt: skip
_CALL_KEYS: Final = frozenset({"arguments", "function", "tool_calls", "function_call"})
"""Keys of an object that calls a tool."""
_LABEL: Final = re.compile(r"[\W\d_]*+(?:[^\W\d_]{1,12}[\W_]*\d[\W\d_]*)?+")
"""A text that only numbers a step, such as "1" or "Step 1:"."""
_NUMBERED: Final = re.compile(
    r"""^[ \t]*(?:\#{1,6}[ \t]+)?(?:\*\*|__)?
    (?: (?P<label>(?!(?:alt|draft|op[ctz]|plan|var|vers)\w*[\ \d])[^\W\d_]{1,20}?)
        [ \t]?
        (?P<first>[\d①-⑳一二三四五六七八九十]{1,4})[^\W\d_]{0,2}(?:\*\*|__)?[ \t]?[-–—.:：)）、，]
      | [(（]?\d{1,4}[^\W\da-zA-Z_]{0,2}(?:\*\*|__)?[.:：)）、．]
      | [①-⑳] | [一二三四五六七八九十]{1,3}[、．] )
    (?:\*\*|__)?(?:[ \t]+(?=\S)|(?=[^\W\d_]))""",
    re.IGNORECASE | re.MULTILINE | re.VERBOSE,
)
"""The number of a step, with at most one word before it, such as "1.", "Step 1:", "Шаг 1." and "第一步："."""
_BULLETED: Final = re.compile(r"^[ \t]*[-*•–+][ \t]+(?=\S)", re.MULTILINE)
_UNESCAPED: Final = re.compile(
    r"""\\(?:[^"\\/bfnrtu]|u(?![0-9a-fA-F]{4})) | \b[A-Za-z]:\\(?!\\)""", re.VERBOSE
)
"""A backslash that stands for itself, which JSON forbids, or that follows a drive of Windows."""
_BACKSLASH: Final = re.compile(r'\\["\\]|(\\)')


def read_plan(text: str) -> list[str] | Unreadable:
    """Reads a plan from ``{"plan": [...]}``, ``{"steps": [...]}``, a bare list or a list in plain text.

    Args:
        text: A model's reply.

    Returns:
        The steps in order, each stripped and not empty (an empty list if the plan is empty), and once if
        several in a row say the same; or the reason if the reply contains no list, several plans of which
        one may be a draft, or JSON without its end.
    """
    document = remove_thoughts(text)
    spans = list(find_containers(document))
    written = [document[slice(*span)] for span in spans if span] or [document]
    plans = _read_written(written)
    start = _JSON_START.search(document, max((span[1] for span in spans if span), default=0))
    if None in spans and start:
        return Unreadable(text, "its JSON has no end")
    if len(plans) > 1:
        return Unreadable(text, "it has several plans")
    steps = plans[0] if plans else _read_plain_list(document)
    if steps is None:
        return Unreadable(text, NO_LIST)
    return [next(same) for _, same in groupby(steps, lambda step: step.casefold().rstrip(".!").split())]


def is_data(text: str) -> bool:
    """Returns whether a reply is data, such as a tool call or an object, and nothing that a step could be."""
    document = unwrap_fence(remove_thoughts(text))
    is_json = _JSON_START.match(document) or isinstance(load_json(document), dict | list)
    return starts_with_call(document) or bool(is_json)


def _read_written(written: list[str]) -> list[list[str]]:
    """Reads the different plans of a reply: of its objects, or else of its lists."""
    objects = [each for each in written if each[:1] == "{" and _PLAN_SIGN.search(each)]
    for group in (objects, [each for each in written if each[:1] == "["]):
        plans = [steps for each in group if (steps := _read_steps(_load(each))) is not None]
        if plans:
            return [steps for at, steps in enumerate(plans) if steps not in plans[:at]]
    return []


def _load(written: str) -> object:
    """Reads JSON, or repairs the spelling of JSON that has its end."""
    if _UNESCAPED.search(written):
        # The writer escaped nothing: what looks like a line break is a part of a path, too.
        written = _BACKSLASH.sub(lambda match: "\\\\" if match[1] else match[0], written)
    value = load_json(written, any_case=True)
    return repair_json(written) if value is None else value


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
        item = None if _CALL_KEYS & item.keys() else _choose_text(item)
    return replace_surrogates(item).strip() if isinstance(item, str) else None


def _choose_text(item: Mapping[str, object]) -> str | None:
    """Returns the text of a step: of the first usual key, or else the only one."""
    texts = {key: text for key, text in item.items() if isinstance(text, str)}
    named = [texts[key] for key in _STEP_KEYS if key in texts] or [*texts.values()]
    words = [text for text in named if not _LABEL.fullmatch(text)]
    if len(words) > 1 and not texts.keys() & {*_STEP_KEYS}:
        return None
    return next(iter(words), "" if any(not text.strip() for text in named) else None)


def _read_plain_list(text: str) -> list[str] | None:
    """Reads a numbered list, or else a bulleted one. Returns None if there is none.

    Each entry is one line with its continuation lines joined.
    """
    marks = _find_numbers(text) or list(_BULLETED.finditer(text))
    ends = [*(mark.start() for mark in marks[1:]), len(text)]
    entries = [text[mark.end() : end].split("\n\n", 1)[0] for mark, end in zip(marks, ends, strict=False)]
    return [step for entry in entries if (step := _read_entry(entry))] or None


def _find_numbers(text: str) -> list[re.Match[str]]:
    """Finds the numbers of a list. Numbers behind a word have to count: "Room 5: clean it" is no list."""
    marks = list(_NUMBERED.finditer(text))
    labels = [mark["label"].casefold() for mark in marks if mark["label"]]
    firsts = [mark["first"] for mark in marks if mark["label"]]
    counts = len(labels) > 1 and len({*labels}) == 1 and firsts[0] in ("1", "１", "①", "一")
    return [mark for mark in marks if counts or not mark["label"]]


def _read_entry(text: str) -> str:
    entry = " ".join(text.split())
    # Of bold text that began before the number, the end is left.
    return entry.replace("**", "", 1).strip() if entry.count("**") % 2 else entry
