"""What is recorded of a judge that gave no usable answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from evaluation.errors import JudgeError, JudgeFailureKind
from evaluation.results.redaction import redacted
from evaluation.values import JsonObject

_READ: Final = 4000
"""Characters that are searched: more than are shown, so that a key which that cuts is known for one."""
_SHOWN: Final = 300


@dataclass(frozen=True, slots=True)
class JudgeFailure:
    """Why a judge's answer gives no score: its own kind of error, never a bad answer of the agent."""

    kind: JudgeFailureKind
    reason: str
    usage: Mapping[str, object] = field(default_factory=dict)
    """What the call cost all the same."""
    details: JsonObject = field(default_factory=dict)


def failure_of(error: Exception) -> JudgeFailure:
    """Say what an exception of a judge was; its text may hold anything, so it is bounded and redacted."""
    if isinstance(error, JudgeError):
        return JudgeFailure(error.kind, _text(error), error.usage, error.details)
    return JudgeFailure("provider_failure", f"{type(error).__name__}: {_text(error)}")


def _text(error: Exception) -> str:
    try:
        text = " ".join(str(error)[:_READ].split())
    except Exception:  # noqa: BLE001 - the text of a foreign error is foreign code
        return "(its text cannot be made)"
    return redacted(text)[:_SHOWN]
