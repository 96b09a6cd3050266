"""Reads a plan from a model's reply. It never raises, and completes no JSON that has no end."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from itertools import groupby, pairwise
from typing import Final

from agents.parsing.loose_json import find_document, find_json, refuse_draft, refuse_words, replace_surrogates
from agents.parsing.textual_calls import starts_with_call
from agents.parsing.verdicts import find_denial
from agents.reply_types import Unreadable

NO_LIST: Final = "no list of steps"
"""The reason of a reply that may be a step by itself."""
DATA: Final = "data and no plan"
"""The reason of a reply that is a tool call or an object, which no step could be."""
_SEVERAL: Final = "it has several plans"
_PLAN_KEYS: Final = ("plan", "steps")
_STEP_KEYS: Final = (
    "description", "step", "task", "title", "objective", "action", "name", "instruction", "details"
)  # fmt: skip
_CALL_KEYS: Final = frozenset({"arguments", "function", "tool_calls", "function_call"})
"""Keys of an object that calls a tool."""
_NUMBER: Final = re.compile(r"[\W_]*+(?:[^\W\d_]{1,12}[ _]?(?=\d))?+\d*+[\W_]*+")
"""A text that numbers a step, and says nothing: "1", "Step 1:" or "..."."""
_NUMBERED: Final = re.compile(
    r"""^[ \t]*(?:\#{1,6}[ \t]+)?(?:\*\*|__)?
    (?: (?P<label>(?:(?![\d_])[\w\u0900-\u0e4e]){1,20}?)
        [ \t]?
        (?P<first>[\d①-⑳一二三四五六七八九十]{1,4})[^\W\d_]{0,2}(?:\*\*|__)?[ \t]?[-–—.:：)）、，]
      | [(（]?(?P<number>\d{1,4})[^\W\da-zA-Z_]{0,2}(?:\*\*|__)?(?:[.:：)）、．]|[-–](?=\s))
      | (?P<sign>[①-⑳] | [一二三四五六七八九十]{1,3}(?=[、．]))[、．]? )
    (?:\*\*|__)?(?:[ \t]+(?=\S)|(?=[^\W\d_])|[ \t]*$)""",
    re.IGNORECASE | re.MULTILINE | re.VERBOSE,
)
"""The number of a step, with at most one word before it, such as "1.", "Step 1:", "Шаг 1." and "第一步："."""
_ALTERNATIVES: Final = re.compile(r"alt|draft|op[ctz]|plan|var|vers", re.IGNORECASE)
"""How the words begin that number whole plans, not steps."""
_REMARK: Final = re.compile(r"\n\n|\n(?=[(\[].*[)\]]\W*\Z)")
"""What ends a step: an empty line, or a line in brackets at the end."""
_BULLETED: Final = re.compile(r"^[ \t]*[-*•–+][ \t]+(?=\S)", re.MULTILINE)


def read_plan(text: str, *, is_repeated: bool = False) -> list[str] | Unreadable:
    """Reads a plan from ``{"plan": [...]}``, ``{"steps": [...]}``, a bare list or a list in plain text.

    Args:
        text: A model's reply.
        is_repeated: Whether the model was told to write the plan alone: other words around it are accepted.

    Returns:
        The steps in order, each stripped and not empty (an empty list if the plan is empty), and once if
        several in a row say the same; or the reason if the reply contains no list, JSON without its end or
        that cannot be read, a draft, a plan that is not finished, or several plans.
    """
    document = find_document(text)
    try:
        steps, beside = _find_steps(document)
        if steps is not None:
            refuse_words(beside, is_repeated=is_repeated)
    except ValueError as error:
        return Unreadable(text, str(error))
    if steps is None:
        is_data = starts_with_call(document) or document.startswith(("{", "["))
        return Unreadable(text, DATA if is_data else NO_LIST)
    return [next(same) for _, same in groupby(steps, lambda step: step.casefold().rstrip(".!").split())]


def _find_steps(document: str) -> tuple[list[str] | None, str]:
    """Reads the plan of a reply, of its objects or else of its lists, and the words beside it.

    Raises:
        ValueError: What may be the plan is not to be used; the message says why.
    """
    values, prose = find_json(document, any_case=True)
    objects, lists = (
        [_read_steps(each) for each in values if isinstance(each, kind)] for kind in (dict, list)
    )
    steps, beside = _choose_only(objects), prose
    if steps is None:
        plain, around = _read_plain_list(document)
        steps, beside = _choose_only([*lists, plain]), prose if plain is None else around
    if any(map(_NUMBER.fullmatch, steps or ())):
        raise ValueError("it has a step without words")
    return steps, "\n".join([beside, *(name for value in values for name in _list_flags(value))])


def _list_flags(value: object) -> list[str]:
    """Returns the names of the fields that are true: nobody knows what they say of a plan."""
    parts = [value, *value.values()] if isinstance(value, dict) else []
    return [name for part in parts if isinstance(part, dict) for name in part if part[name] is True]


def _choose_only(plans: Iterable[list[str] | None]) -> list[str] | None:
    different = [steps for steps, _ in groupby(steps for steps in plans if steps is not None)]
    if len(different) > 1:
        raise ValueError(_SEVERAL)
    return next(iter(different), None)


def _read_steps(value: object) -> list[str] | None:
    """Reads the steps of a decoded reply, a list or an object with one. Returns None if it is no plan."""
    if isinstance(value, dict):
        return _read_fields(value)
    if not isinstance(value, list):
        return None
    steps = [_read_step(item) for item in value]
    # All or none: a plan that lost a step would look complete.
    return None if None in steps else [step for step in steps if step]


def _read_fields(fields: Mapping[str, object]) -> list[str] | None:
    """Reads the plan of an object, unless its other fields say that it is a draft."""
    values = [fields[key] for key in _PLAN_KEYS if key in fields]
    # A text or a number beside a list is its title, or how many steps there are.
    lists = [value for value in values if isinstance(value, dict | list)]
    steps = _choose_only(map(_read_plan_value, lists or values))
    others = {name: value for name, value in fields.items() if name not in _PLAN_KEYS}
    words = [name.replace("_", " ") if value is True else str(value) for name, value in others.items()]
    if steps is not None:
        refuse_draft("draft" if find_denial(others) else "\n".join(words))
    return steps


def _read_plan_value(value: object) -> list[str] | None:
    """Reads the value of the plan's key: a list; or, from weaker models, a text or numbered entries."""
    if isinstance(value, str):
        return _read_plain_list(value)[0] or _read_steps([value])
    if isinstance(value, dict) and all(map(_NUMBER.fullmatch, value)):
        return _read_steps([*value.values()])
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
    words = [text for text in named if not _NUMBER.fullmatch(text)]
    if len(words) > 1 and not texts.keys() & {*_STEP_KEYS}:
        return None
    return next(iter(words), "" if any(not text.strip() for text in named) else None)


def _read_plain_list(text: str) -> tuple[list[str] | None, str]:
    """Reads a numbered list, or else a bulleted one, and the words around it; None if there is none.

    Each entry is one line with its continuation lines joined.
    """
    marks = _find_numbers(text) or [*_BULLETED.finditer(text)]
    if not marks:
        return None, ""
    if any(_begins_anew(text, *pair) for pair in pairwise(marks)):
        raise ValueError(_SEVERAL)
    edges = [*(mark.start() for mark in marks[1:]), len(text)]
    entries = [_REMARK.split(text[mark.end() : edge], 1) for mark, edge in zip(marks, edges, strict=True)]
    around = "\n".join([text[: marks[0].start()], *entries[-1][1:]])
    # A number, a bullet or an ellipsis alone at the end is a step that was cut off.
    last = text.rstrip().rpartition("\n")[2].strip()
    is_cut = _NUMBER.fullmatch(last) and (len(last) == 1 or "..." in last or any(map(str.isdigit, last)))
    return [*(_read_entry(entry) for entry, *_ in entries), *([last] if is_cut else [])], around


def _begins_anew(text: str, before: re.Match[str], mark: re.Match[str]) -> bool:
    """Returns whether a mark is the first one of another list, with other text before it."""
    is_first = (not mark.lastgroup or _is_one(mark)) and not mark[0][0].isspace()
    return is_first and re.search(r"\n\S", text[before.end() : mark.start()].rstrip()) is not None


def _is_one(mark: re.Match[str]) -> bool:
    number = mark[mark.lastgroup or 0].lstrip("0")
    return len(number) == 1 and unicodedata.numeric(number, 0) == 1


def _find_numbers(text: str) -> list[re.Match[str]]:
    """Finds the numbers of a list. Numbers behind a word have to count: "Room 5: clean it" is no list."""
    marks = [*_NUMBERED.finditer(text)]
    named = [mark for mark in marks if mark["label"]]
    counts = len(named) > 1 and len({mark["label"].casefold() for mark in named}) == 1 and _is_one(named[0])
    if counts and _ALTERNATIVES.match(named[0]["label"]):
        raise ValueError(_SEVERAL)
    return [mark for mark in marks if counts or not mark["label"]]


def _read_entry(text: str) -> str:
    entry = " ".join(text.split())
    # Of bold text that began before the number, the end is left.
    return entry.replace("**", "", 1).strip() if entry.count("**") % 2 else entry
