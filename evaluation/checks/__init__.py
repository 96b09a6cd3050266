"""Checks of an output: small models, each with a pure function of the output."""

from evaluation.checks.check_model import BaseCheck, CheckContext, CheckOutcome
from evaluation.checks.contract_checks import CHECKS, Check, read_checks

__all__ = [
    "CHECKS",
    "BaseCheck",
    "Check",
    "CheckContext",
    "CheckOutcome",
    "read_checks",
]
