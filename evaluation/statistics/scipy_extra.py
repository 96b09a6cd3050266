"""Imports SciPy, which comes with the extra ``statistics``."""

from __future__ import annotations

import importlib
from types import ModuleType

from evaluation.errors import MissingExtraError


def import_scipy_stats() -> ModuleType:
    """Import ``scipy.stats`` on first use: it takes about a second, and most runs do not need it.

    Raises:
        MissingExtraError: SciPy is not installed.
    """
    try:
        return importlib.import_module("scipy.stats")
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            "this statistic needs scipy, which is not installed; "
            "run: pip install 'plan-execute-monitor[statistics]'"
        ) from error
