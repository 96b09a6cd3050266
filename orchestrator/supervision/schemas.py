"""What the phases hold a model's reply to: small enough for a weak model, and for a reply of 256 tokens."""

from __future__ import annotations

from typing import Final

from agents.contracts import JsonSchema


def _text(limit: int, shortest: int = 0) -> JsonSchema:
    return {"type": "string", "minLength": shortest, "maxLength": limit}


def _texts(most: int = 2, limit: int = 80) -> JsonSchema:
    return {"type": "array", "items": _text(limit, 3), "maxItems": most}


def _object(title: str, description: str, **properties: JsonSchema) -> JsonSchema:
    return {
        "title": title,
        "description": description,
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


COMMITMENT_SCHEMA: Final = _object(
    "commitment",
    "What will be done in a step.",
    interpretation=_text(160, 3),
    scope_in=_texts(),
    scope_out=_texts(),
    approach=_text(160, 3),
    predicted_output=_text(160, 3),
    confidence={"enum": ["high", "medium", "low"]},
    assumptions=_texts(),
)

ASSESSMENT_SCHEMA: Final = _object(
    "assessment",
    "How what was done differs from what was to be done.",
    met={"type": "boolean"},
    deviations=_texts(3, 120),
    concerns=_texts(3, 120),
    unexpected=_texts(3, 120),
)

VERDICT_SCHEMA: Final = _object(
    "verdict",
    "How a step goes on.",
    verdict={"enum": ["continue", "reorient", "ask_human", "halt"]},
    text=_text(400, 3),
)
