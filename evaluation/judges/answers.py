"""Reads a judge's answer as one JSON object that a state and a report can store."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from pydantic import BaseModel

from agents.parsing.denials import iter_fields, normalize_name
from agents.parsing.loose_json import find_containers, repair_json
from agents.parsing.objects import is_one_object, remove_marked_thoughts, unwrap_fence
from agents.parsing.surrogates import replace_surrogates
from evaluation.judges.failures import JudgeFailure
from evaluation.values import JsonObject

MAX_ANSWER: Final = 100_000
"""Maximum length of an answer in characters."""
_MAX_LEVELS: Final = 20
_MAX_BITS: Final = 1023
"""Maximum size of a whole number: larger ones do not fit into a float."""
NO_VERDICTS: Final = ("criteria", "concerns", "usage", "panel")
"""The fields that state no verdict: numbers, doubts, cost, and the votes of a panel."""
_OTHER_SCORES: Final = frozenset({"score", "overall", "rating", "grade"})
_VERDICTS: Final = frozenset({"final", "verdict", "result", "evaluation", "assessment", "judgment"})
"""The fields whose objects may state an overall score once more."""
_FIRST_NUMBER: Final = re.compile(r"\s*(-?\d{1,9}(?:\.\d{1,9})?)")
NO_OBJECT: Final = "the answer contains no JSON object that can be read"
NOT_ALONE: Final = "the answer is not one JSON object alone: it has other text or other objects"


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
        return JudgeFailure(
            "malformed", f"the answer contains a value that is not JSON ({type(error).__name__})"
        )


def read_object(raw: object) -> ObjectRead | JudgeFailure:
    """Reads the only object of an answer.

    A text has to be the object and nothing else, after the thoughts of a reasoning model. It may be in a code
    fence. An object that is cut off or not quite JSON is repaired, and marked as repaired. An object among
    other text or other objects is a failure, since it may be quoted; so is a key that occurs twice.
    """
    text = format_answer(raw)
    if isinstance(text, JudgeFailure):
        return text
    if len(text) > MAX_ANSWER:
        return JudgeFailure("malformed", f"the answer is longer than {MAX_ANSWER} characters")
    document = unwrap_fence(remove_marked_thoughts(text))
    try:
        value = _load_object(document)
    except _DuplicateKeyError as error:
        return JudgeFailure("malformed", str(error))
    read = _repair_object(document) if value is None else ObjectRead(value)
    is_among_others = "{" in document and not is_one_object(document)
    return read or JudgeFailure("malformed", NOT_ALONE if is_among_others else NO_OBJECT)


def copy_json_object(value: object) -> JsonObject:
    """Copies an object of JSON values. Returns an empty object for anything else."""
    read = read_object(value)
    return read.value if isinstance(read, ObjectRead) and not read.repaired else {}


def read_number(value: object) -> float | None:
    """Reads a number; returns None for anything else, a boolean included."""
    return None if isinstance(value, bool) or not isinstance(value, int | float) else float(value)


def iter_other_scores(answer: JsonObject, score: float) -> Iterator[tuple[str, float, float]]:
    """Yields each other overall score: its name, its value, and the score that it may not contradict."""
    for name, value in _iter_overall(answer):
        if normalize_name(name) not in _OTHER_SCORES:
            continue
        if isinstance(value, bool):
            # A boolean is no score, so it cannot confirm one.
            yield name, math.nan, score
        elif number := _FIRST_NUMBER.match(str(value)):
            yield name, float(number[1]), score


def _iter_overall(answer: JsonObject) -> Iterator[tuple[str, object]]:
    for name, value in answer.items():
        if isinstance(value, Mapping) and normalize_name(name) in _VERDICTS | _OTHER_SCORES:
            yield from value.items()
        elif name != "score":
            yield name, value


def iter_restated_scores(answer: JsonObject, scores: JsonObject) -> Iterator[tuple[str, float, float]]:
    """Yields each score of a criterion outside of ``criteria``, with the score that it may not contradict."""
    least = {normalize_name(name): number for name in scores if (number := read_number(scores[name]))}
    others = {name: value for name, value in answer.items() if name not in {*NO_VERDICTS, "score"}}
    for name, value in iter_fields(others):
        number, criterion = read_number(value), normalize_name(name)
        if number is not None and criterion in least:
            yield name, number, least[criterion]


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


def _repair_object(document: str) -> ObjectRead | None:
    if not document.startswith("{") or next(find_containers(document)) not in (None, (0, len(document))):
        return None
    value = _check_object(repair_json(document, strict=True))
    return ObjectRead(value, repaired=True) if value else None


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
