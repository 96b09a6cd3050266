"""The error tree of the evaluation package.

EvaluationError
├── ContractError     what the caller configured cannot be used (also a ValueError)
├── JudgeError        a judge gave no usable answer
└── MissingExtraError an optional package is not installed (also an ImportError)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal


class EvaluationError(Exception):
    """Base of all errors that this package raises."""


class ContractError(EvaluationError, ValueError):
    """A rule, pattern, schema, price or option that cannot be used as given."""


JudgeFailureKind = Literal[
    "not_configured",
    "provider_failure",
    "blocked",
    "malformed",
    "missing_score",
    "out_of_range",
    "missing_rationale",
    "no_majority",
]


class JudgeError(EvaluationError):
    """A judge that gave no usable answer; raised by judges, recorded by the graph.

    Args:
        message: What went wrong.
        kind: The kind of failure, which the report names.
        usage: What the failed call cost all the same, as in a judge's answer.
        details: What else the report should hold, as JSON values.
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


class MissingExtraError(EvaluationError, ImportError):
    """A feature whose optional packages are not installed."""
