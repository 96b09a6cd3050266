"""What the agents hand to their callers, and the replies that a model's text is read into."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, TypedDict

UNREADABLE_PREFIX: Final = "Failed to parse monitoring response: "
"""How the feedback of a verdict begins that could not be read from the judge's reply."""


class Verdict(TypedDict):
    """A judge's word on one step: always these two keys, always of these types."""

    success: bool
    feedback: str


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A reply that holds no answer of the wanted shape: a value, since models do this every day."""

    raw: str
    reason: str


JsonSchema = dict[str, object]

DEFAULT_MAX_STEPS: Final = 12


def plan_schema(max_steps: int = DEFAULT_MAX_STEPS) -> JsonSchema:
    """The schema of a plan of at most ``max_steps`` steps."""
    step = {"type": "string", "minLength": 3, "maxLength": 200}
    return {
        "title": "plan",
        "description": "The steps of the task, in order.",
        "type": "object",
        "properties": {"plan": {"type": "array", "items": step, "minItems": 1, "maxItems": max_steps}},
        "required": ["plan"],
        "additionalProperties": False,
    }


VERDICT_SCHEMA: Final[JsonSchema] = {
    "title": "verdict",
    "description": "Whether the output meets the objective.",
    "type": "object",
    "properties": {
        "success": {"type": "boolean"},
        "feedback": {"type": "string", "maxLength": 600},
    },
    "required": ["success", "feedback"],
    "additionalProperties": False,
}
