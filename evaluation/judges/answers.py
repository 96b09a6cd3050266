"""Reads a judge's answer as one JSON object that a state and a report can store."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from pydantic import BaseModel

from agents.parsing.loose_json import repair_json
from agents.parsing.surrogates import replace_surrogates
from evaluation.judges.failures import JudgeFailure
from evaluation.values import JsonObject

MAX_ANSWER: Final = 100_000
"""Maximum length of an answer in characters."""
_MAX_LEVELS: Final = 20
_MAX_BITS: Final = 1023
"""Maximum size of a whole number: larger ones do not fit into a float."""
_FENCE: Final = re.compile(r"```(?:json)?[ \t]*\n(.*?)```", re.DOTALL | re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ObjectRead:
    """The object of an answer.

    Attributes:
        value: The object.
        repaired: Whether the text was not JSON before it was repaired.
    """

    value: JsonObject
    repaired: bool = False


def format_answer(raw: object) -> str | JudgeFailure:
    """Writes an answer as text. It may be an object of JSON values, a pydantic model or text already."""
    if isinstance(raw, str):
        return raw[: MAX_ANSWER + 1]
    if not isinstance(raw, Mapping | BaseModel):
        return JudgeFailure("malformed", f"the answer is a {type(raw).__name__}, not a JSON object")
    try:
        value = raw.model_dump(mode="json", warnings=False) if isinstance(raw, BaseModel) else dict(raw)
        return json.dumps(value, allow_nan=False)[: MAX_ANSWER + 1]
    except (TypeError, ValueError, RecursionError) as error:
        return JudgeFailure("malformed", f"the answer holds what is no JSON ({type(error).__name__})")


def read_object(raw: object) -> ObjectRead | JudgeFailure:
    """Reads the only object of an answer.

    In a text, the object is the whole text, the only fenced block, or the part from the first to the last
    brace. Any other text is repaired, and marked as repaired. A key that occurs twice is a failure: two
    scores are no score.
    """
    text = format_answer(raw)
    if isinstance(text, JudgeFailure):
        return text
    if len(text) > MAX_ANSWER:
        return JudgeFailure("malformed", f"the answer is longer than {MAX_ANSWER} characters")
    try:
        value = next((value for part in _iter_parts(text) if (value := _load_object(part)) is not None), None)
    except _DuplicateKeyError as error:
        return JudgeFailure("malformed", str(error))
    read = _repair_object(text) if value is None else ObjectRead(value)
    return read or JudgeFailure("malformed", "the answer holds no JSON object that can be read")


def copy_json_object(value: object) -> JsonObject:
    """Copies an object of JSON values. Returns an empty object for anything else."""
    read = read_object(value)
    return read.value if isinstance(read, ObjectRead) and not read.repaired else {}


def _iter_parts(text: str) -> Iterator[str]:
    yield text
    yield from _only_fence(text)
    if _may_contain_object(text):
        yield text[text.find("{") : text.rfind("}") + 1]


def _only_fence(text: str) -> list[str]:
    blocks: list[str] = _FENCE.findall(text)
    return blocks if len(blocks) == 1 else []


def _may_contain_object(text: str) -> bool:
    # A list or a string may contain several objects, and only the first one would be read.
    return "{" in text and not text.lstrip().startswith(("[", '"'))


class _DuplicateKeyError(Exception):
    """An object has a key twice, so that no one can say which value was meant."""


def _load_object(text: str) -> JsonObject | None:
    try:
        # Not strict: many models write a line break within a string as it is.
        return _check_object(json.loads(text, strict=False, object_pairs_hook=_refuse_duplicates))
    except (ValueError, RecursionError):
        return None


def _refuse_duplicates(pairs: list[tuple[str, object]]) -> dict[str, object]:
    value = dict(pairs)
    if len(value) < len(pairs):
        raise _DuplicateKeyError("the answer states something twice: a key occurs again")
    return value


def _repair_object(text: str) -> ObjectRead | None:
    if not _may_contain_object(text):
        return None
    start = text.find("{")
    parts = [*_only_fence(text), text[start:], text[start : text.rfind("}") + 1]]
    values = (_check_object(repair_json(part, strict=True)) for part in parts)
    value = next((value for value in values if value), None)
    return None if value is None else ObjectRead(value, repaired=True)


def _check_object(value: object) -> JsonObject | None:
    """Returns an object without lone surrogates. Returns None if a report cannot store it."""
    if not isinstance(value, dict) or not _is_storable(value, _MAX_LEVELS):
        return None
    storable: dict[str, object] = json.loads(replace_surrogates(json.dumps(value, ensure_ascii=False)))
    return storable


def _is_storable(value: object, levels: int) -> bool:
    if isinstance(value, dict | list):
        parts = value.values() if isinstance(value, dict) else value
        return levels > 0 and all(_is_storable(part, levels - 1) for part in parts)
    if isinstance(value, float):
        return math.isfinite(value)
    return not isinstance(value, int) or value.bit_length() <= _MAX_BITS
