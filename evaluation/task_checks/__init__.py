"""Derives checks from the text of a task, without a model: few and right ones, not all."""

from evaluation.task_checks.derivation import DerivedChecks, derive_checks

__all__ = ["DerivedChecks", "derive_checks"]
