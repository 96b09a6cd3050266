"""Checks of an output: small models, each with a pure function of the output."""

from evaluation.checks.check_context import CheckContext, ToolUse
from evaluation.checks.check_model import BaseCheck, CheckKind, CheckOutcome
from evaluation.checks.vocabulary import CHECKS, Check, read_checks

__all__ = [
    "CHECKS",
    "BaseCheck",
    "Check",
    "CheckContext",
    "CheckKind",
    "CheckOutcome",
    "ToolUse",
    "read_checks",
]
