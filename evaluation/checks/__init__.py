"""Checks of an output: small models, each with a pure function of the output."""

from evaluation.checks.check_context import CheckContext, ToolUse
from evaluation.checks.check_kinds import CHECKS, Check, read_checks
from evaluation.checks.check_model import BaseCheck, CheckKind, CheckOutcome

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
