"""The JSON Schema that a model's answer is held to, from a rubric."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from evaluation.inputs.rules import Rubric, Scale
from evaluation.judges.scores import FIELDS

_SHORT: Final[Mapping[str, object]] = {"type": "string", "maxLength": 200}
_RATIONALE: Final[Mapping[str, object]] = {
    "type": "string",
    "minLength": 3,
    "maxLength": 600,
    "description": "Why, in a few sentences.",
}
_CONCERNS: Final[Mapping[str, object]] = {"type": "array", "items": _SHORT, "maxItems": 5}


def answer_schema(rubric: Rubric) -> dict[str, object]:
    """Ask for a rationale, a score a criterion, concerns, an action, and what the rubric wants beside them.

    The overall score is not asked for: it follows from the criteria. The bounds on lengths keep small models
    from running on; a longer answer is read all the same.
    """
    own: dict[str, object] = {
        "rationale": _RATIONALE,
        "criteria": _scores(rubric),
        **_asked_beside(rubric),
        "concerns": _CONCERNS,
        "recommended_action": _SHORT,
    }
    return {
        "title": "judge_answer",
        "description": "A judge's scores with their reasons.",
        "type": "object",
        "properties": own,
        "required": list(own),
        "additionalProperties": False,
        **_definitions(rubric),
    }


def _scores(rubric: Rubric) -> dict[str, object]:
    names = list(dict.fromkeys(criterion.name for criterion in rubric.criteria))
    score = _score(rubric.scale)
    return {
        "type": "object",
        "properties": dict.fromkeys(names, score),
        "required": names,
        "additionalProperties": False,
    }


def _score(scale: Scale) -> dict[str, object]:
    """Ask for whole numbers on a scale like 1 to 5, where models are steadier; for any on one like 0 to 1."""
    low, high = scale.min, scale.max
    if low.is_integer() and high.is_integer() and high - low > 1:
        return {"type": "integer", "minimum": int(low), "maximum": int(high)}
    return {"type": "number", "minimum": low, "maximum": high}


def _asked_beside(rubric: Rubric) -> dict[str, object]:
    properties = (rubric.json_schema or {}).get("properties")
    given = properties if isinstance(properties, dict) else {}
    return {name: part for name, part in given.items() if name not in FIELDS}


def _definitions(rubric: Rubric) -> dict[str, object]:
    given = rubric.json_schema or {}
    return {name: given[name] for name in ("$defs", "definitions") if name in given}
