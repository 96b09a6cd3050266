"""The one door to NumPy and SciPy, which come with the extra ``statistics``."""

from __future__ import annotations

import importlib
from types import ModuleType

from evaluation.errors import MissingExtraError


def import_numpy() -> ModuleType:
    """Import NumPy.

    Raises:
        MissingExtraError: It is not installed.
    """
    return _imported("numpy")


def import_scipy_stats() -> ModuleType:
    """Import ``scipy.stats``; the first call in a process takes about a second.

    Raises:
        MissingExtraError: It is not installed.
    """
    return _imported("scipy.stats")


def _imported(name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            f"this statistic needs {name}, which is not installed; "
            "run: pip install 'plan-execute-monitor[statistics]'"
        ) from error
