"""Checks of an output: small models, each with a pure function of the output."""

from evaluation.checks.check_model import BaseCheck, CheckContext, CheckOutcome, ToolUse
from evaluation.checks.contract_checks import CHECKS, Check, read_checks
from evaluation.findings import CheckKind

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
