"""The error tree of the evaluation package.

EvaluationError
├── ContractError     what the caller configured cannot be used (also a ValueError)
├── JudgeError        a judge gave no usable answer
└── MissingExtraError an optional package is not installed (also an ImportError)
"""

from __future__ import annotations

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

    Attributes:
        kind: What went wrong.
    """

    def __init__(self, message: str, kind: JudgeFailureKind = "provider_failure") -> None:
        super().__init__(message)
        self.kind = kind


class MissingExtraError(EvaluationError, ImportError):
    """A feature whose optional packages are not installed."""
