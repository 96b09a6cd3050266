"""The error tree of the evaluation package.

EvaluationError
├── ContractError     what the caller configured cannot be used (also a ValueError)
├── JudgeError        a judge gave no usable answer
└── MissingExtraError an optional package is not installed (also an ImportError)
"""

from __future__ import annotations


class EvaluationError(Exception):
    """Base of all errors that this package raises."""


class ContractError(EvaluationError, ValueError):
    """A rule, pattern, schema, price or option that cannot be used as given."""


class JudgeError(EvaluationError):
    """A judge that gave no usable answer; raised by judges, recorded by the graph."""


class MissingExtraError(EvaluationError, ImportError):
    """A feature whose optional packages are not installed."""
