"""The types and schemas of the agents' replies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, TypedDict

UNREADABLE_PREFIX: Final = "Failed to parse monitoring response: "
"""The feedback begins with it if the judge's reply was unreadable."""


class Verdict(TypedDict):
    """The verdict on one step. It always has exactly these keys and types."""

    success: bool
    feedback: str


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A reply without an answer of the expected form. Models write such replies every day.

    Attributes:
        raw: The reply.
        reason: Why it cannot be read.
    """

    raw: str
    reason: str


GateDecision = Literal["forbidden", "denied", "reused", "unknown", "stated"]
"""Why a tool call of a step did not run its tool."""


class PersonAnswer(TypedDict):
    """The answer of a person. ``text`` is the reason, ``answered_at`` ISO 8601 in UTC."""

    answer: Literal["approve", "correct", "deny", "halt"]
    text: str
    answered_by: str
    answered_at: str


JsonSchema = dict[str, object]

DEFAULT_MAX_STEPS: Final = 12


def plan_schema(max_steps: int = DEFAULT_MAX_STEPS) -> JsonSchema:
    """Builds the schema of a plan of at most ``max_steps`` steps."""
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
        "missing": {"type": "string", "maxLength": 300},
        "success": {"type": "boolean"},
        "feedback": {"type": "string", "maxLength": 600},
    },
    "required": ["missing", "success", "feedback"],
    "additionalProperties": False,
}
