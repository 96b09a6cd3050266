"""The record of a judge that gave no usable answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from evaluation.errors import JudgeError, JudgeFailureKind
from evaluation.sensitive.quoting import describe_error
from evaluation.values import JsonObject


@dataclass(frozen=True, slots=True)
class JudgeFailure:
    """Why a judge's answer gives no score. It is an error of the judge, never a bad score for the agent.

    Attributes:
        kind: The kind of error.
        reason: One sentence.
        usage: The cost of the call.
        details: Any other JSON values.
    """

    kind: JudgeFailureKind
    reason: str
    usage: Mapping[str, object] = field(default_factory=dict)
    details: JsonObject = field(default_factory=dict)


def failure_from_error(error: Exception) -> JudgeFailure:
    """Describes an exception of a judge. Its text is shortened and redacted, since it may quote the run."""
    text = describe_error(error)
    if isinstance(error, JudgeError):
        return JudgeFailure(error.kind, text, error.usage, error.details)
    return JudgeFailure("provider_failure", f"{type(error).__name__}: {text}")
