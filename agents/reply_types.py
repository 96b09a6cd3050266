"""The types and schemas of the agents' replies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Literal

from typing_extensions import TypedDict

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
"""Why a tool did not run.

The contract forbids the call, a person denied it, an equal call acted before, it is not known whether an
equal call acted before, or a person who knows it stated the result of that call.
"""

EffectOutcome = Literal["acted", "refused", "unknown", "stated", "reused", "denied"]
"""What is known of a call.

It acted, it did not act, nobody knows whether it did, a person says what it did, it was not made since an
equal call acted, or a person denied it.
"""

AnswerWord = Literal["approve", "correct", "deny", "halt"]
"""The answer of a person.

At a tool call, "halt" ends the run, as "deny" does after an execution, and "correct" states the result of a
call that may have had its effect.
"""


class HumanAnswer(TypedDict):
    """The answer of a person. ``text`` is the correction of "correct", or the reason of the others.

    The text of "approve" is only recorded. ``answered_at`` is ISO 8601 in UTC.
    """

    answer: AnswerWord
    text: str
    answered_by: str
    answered_at: str


class ReadBack(TypedDict):
    """The answer of a reading tool that was asked after a call, or its error."""

    name: str
    args: dict[str, Any]
    result: str | None
    error: str | None


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
