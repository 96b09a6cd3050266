"""From a model's text to a typed reply. Nothing here raises on anything a model can write."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from langchain_core.utils.json import parse_json_markdown

from agents.contracts import Unreadable, Verdict
from agents.parsing.loose_json import containers, load, load_repaired, load_unambiguous, respelled
from agents.parsing.plain_lists import listed
from agents.parsing.well_formed import well_formed

_THOUGHT_START = re.compile(r"\s*<think(?:ing)?\b", re.IGNORECASE)
_THOUGHT_END = re.compile(r"</think(?:ing)?>", re.IGNORECASE)
_JSON_START = re.compile(r"""[\[{]\s*(?:["'\[{]|\w+\s*:)""")
_PLAN_SIGN = re.compile(r"plan|steps|\\u", re.IGNORECASE)
_VERDICT_SIGN = re.compile(r"success|feedback|\\u", re.IGNORECASE)
_DOUBT = re.compile(
    r"""</?think | success\W{0,6}+(?:is|should\sbe|=)?+\W{0,6}+false | \bnot\s(?:met|approved|a\ssuccess)
    | \bverdict\W{1,6}+fail | \brefused\b | \bfailed\b""",
    re.IGNORECASE | re.VERBOSE,
)
_PLAN_KEYS: Final = ("plan", "steps")
_STEP_KEYS: Final = (
    "description", "step", "task", "title", "objective", "action", "name", "instruction", "details"
)  # fmt: skip
_LABEL: Final = re.compile(r"[\W\d_]*+(?:step[\W\d_]*+)?+", re.IGNORECASE)
"""What only numbers a step, such as "1" or "Step 1:"."""


def without_thoughts(text: str) -> str:
    """Drop the block in which reasoning models think aloud before they answer; all of it if it never ends."""
    closing = list(_THOUGHT_END.finditer(text))
    if _THOUGHT_START.match(text):
        return text[closing[0].end() :].strip() if closing else ""
    if not closing or text.lstrip()[:1] in ("{", "[", "`", '"'):
        return text.strip()
    thoughts = text[: closing[-1].start()]
    return text.strip() if "<think" in thoughts.lower() else text[closing[-1].end() :].strip()


def read_plan(text: str) -> list[str] | Unreadable:
    """Read a plan from ``{"plan": [...]}``, ``{"steps": [...]}``, a bare list or a list in plain text.

    Args:
        text: A model's reply.

    Returns:
        The steps in order, each stripped and not empty (no step where the reply lists none), or
        why no list could be found.
    """
    document = unquoted(without_thoughts(text))
    steps = _json_steps(document)
    if steps is None:
        steps = listed(document)
    return Unreadable(text, "no list of steps") if steps is None else steps


def read_verdict(text: str) -> Verdict | Unreadable:
    """Read a verdict, failing closed.

    A success is returned only where a complete JSON object states it and nothing else in the text
    makes that doubtful: text that was cut off, an object that speaks of success or feedback and is no
    readable verdict, two verdicts that contradict each other, and values other than a boolean (or the
    words "true" and "false") are unreadable.

    Args:
        text: A model's reply.

    Returns:
        The verdict, or why none could be read.
    """
    answer = without_thoughts(text)
    if cut_within_object(text, answer):
        return Unreadable(text, "a JSON object is cut in two")
    document = unquoted(answer)
    found, beside = [], []
    at = 0
    for span in containers(document):
        if span is None:
            return Unreadable(text, "a JSON object is cut off")
        verdicts = _verdicts(document[slice(*span)])
        if verdicts is None:
            return Unreadable(text, "no single boolean 'success' in a JSON object")
        found += verdicts
        beside.append(document[at : span[0]])
        at = span[1]
    return _agreed(text, found, "\n".join([*beside, document[at:]]))


def _agreed(text: str, found: list[Verdict], beside: str) -> Verdict | Unreadable:
    """The one verdict that all state, given what stands beside them."""
    if not found:
        return Unreadable(text, "no JSON object with a boolean 'success'")
    if len({verdict["success"] for verdict in found}) > 1:
        return Unreadable(text, "two verdicts that contradict each other")
    if found[-1]["success"] and _DOUBT.search(beside):
        return Unreadable(text, "the text beside the verdict contradicts it")
    return found[-1]


def cut_within_object(text: str, answer: str) -> bool:
    """Whether the end of a thought that never began stands inside an object, so that it is no such end."""
    if _THOUGHT_START.match(text) or len(answer) == len(text.strip()):
        return False
    return None in containers(text.rstrip().removesuffix(answer))


def _verdicts(span: str) -> list[Verdict] | None:
    """The verdicts of a complete object or list: none if it is about something else, None if unreadable."""
    if not _VERDICT_SIGN.search(span):
        return []
    value = load_unambiguous(span)
    if value is None:
        value = load_unambiguous(respelled(span))
    if value is None:
        return _repaired_refusal(span)
    items = [_verdict(item) for item in (value if isinstance(value, list) else [value])]
    verdicts = [item for item in items if item is not None]
    return verdicts if len(verdicts) == len(items) else None


def _repaired_refusal(span: str) -> list[Verdict] | None:
    """A guess at a broken object is good enough for a failure, never for a success."""
    verdict = _verdict(load_repaired(span))
    return None if verdict is None or verdict["success"] else [verdict]


def _verdict(value: object) -> Verdict | None:
    success = _boolean(value.get("success")) if isinstance(value, dict) else None
    if success is None or not isinstance(value, dict):
        return None
    if success and _denied_within(value):
        return None
    return Verdict(success=success, feedback=_feedback(value.get("feedback")))


def _denied_within(value: Mapping[str, object]) -> bool:
    """Whether something inside of an object that states a success states a failure."""
    try:
        inner = json.dumps([item for key, item in value.items() if isinstance(item, dict | list)])
    except RecursionError:
        return True
    return '"success": false' in inner.lower()


def _boolean(value: object) -> bool | None:
    if isinstance(value, str):
        return {"true": True, "false": False}.get(value.strip().lower())
    return value if isinstance(value, bool) else None


def _feedback(value: object) -> str:
    if isinstance(value, str):
        return well_formed(value)
    try:
        return "" if value is None else well_formed(json.dumps(value, ensure_ascii=False))
    except RecursionError:
        return ""


def _json_steps(text: str) -> list[str] | None:
    for value in _json_values(text):
        steps = _steps(value)
        if steps is not None:
            return steps
    return None


def _json_values(text: str) -> Iterator[object]:
    """What the text may hold as JSON: the likeliest reading first, a guess last."""
    if (whole := load(text)) is not None:
        yield whole
        return
    yield _load_fenced(text)
    spans = [text[slice(*span)] for span in containers(text) if span]
    plans = [span for span in spans if span[0] == "{" and _PLAN_SIGN.search(span)]
    for span in [*plans, *(span for span in spans if span[0] == "[")]:
        yield load(span)
        yield load(respelled(span))
    if start := _JSON_START.search(text):
        yield load_repaired(text[start.start() :])


def _load_fenced(text: str) -> object:
    try:
        return parse_json_markdown(text, parser=_loads)
    except (ValueError, RecursionError):
        return None


def _loads(text: str) -> object:
    return json.loads(text, strict=False)


def _steps(value: object) -> list[str] | None:
    """The steps of a decoded reply; None where it is no plan at all."""
    if isinstance(value, dict):
        return next((_plan_value(value[key]) for key in _PLAN_KEYS if key in value), None)
    return _items(value) if isinstance(value, list) else None


def _plan_value(value: object) -> list[str] | None:
    """What stands under the plan's key: a list; or, from weaker models, text or numbered entries."""
    if isinstance(value, str):
        written = load(value)
        return _items(written if isinstance(written, list) else listed(value) or [value])
    if isinstance(value, dict):
        nested = next((value[key] for key in _PLAN_KEYS if isinstance(value.get(key), list)), None)
        return _items(nested if isinstance(nested, list) else list(value.values()))
    return _items(value) if isinstance(value, list) else None


def _items(values: Sequence[object]) -> list[str] | None:
    steps = [step for value in values if (step := _step(value)) is not None]
    return [step for step in steps if step] if len(steps) == len(values) else None


def _step(item: object) -> str | None:
    """One step as text; None for what cannot be a step."""
    if isinstance(item, dict):
        item = _described([item[key] for key in _STEP_KEYS if isinstance(item.get(key), str)])
    return well_formed(item).strip() if isinstance(item, str) else None


def _described(texts: Sequence[str]) -> str | None:
    """The first text that says something, else one that is empty."""
    said = next((text for text in texts if not _LABEL.fullmatch(text)), None)
    return said if said is not None else next((text for text in texts if not text.strip()), None)


def unquoted(text: str) -> str:
    """A JSON document that was sent as a JSON string."""
    value = load(text) if text[:1] == '"' else None
    return value if isinstance(value, str) else text
