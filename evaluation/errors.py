"""The error tree of the evaluation package.

EvaluationError
├── ContractError     a contract or an option cannot be used (also a ValueError)
└── JudgeError        a judge gave no usable answer
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal


class EvaluationError(Exception):
    """Base of all errors that this package raises."""


class ContractError(EvaluationError, ValueError):
    """A rule, pattern, schema, price or option that cannot be used."""


JudgeFailureKind = Literal[
    "not_configured",
    "provider_failure",
    "blocked",
    "malformed",
    "missing_score",
    "out_of_range",
    "missing_rationale",
    "partly_seen",
]


class JudgeError(EvaluationError):
    """A judge gave no usable answer; judges raise it, and the report records it.

    Args:
        message: The cause in one sentence.
        kind: The kind of failure, which the report shows.
        usage: The cost of the failed call, as in a judge's answer.
        details: Further JSON values for the report.
    """

    def __init__(
        self,
        message: str,
        kind: JudgeFailureKind = "provider_failure",
        *,
        usage: Mapping[str, object] | None = None,
        details: Mapping[str, object] | None = None,
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.usage = usage or {}
        self.details = details or {}
