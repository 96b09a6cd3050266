"""Imports NumPy and SciPy, which come with the extra ``statistics``."""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Literal

from evaluation.errors import MissingExtraError


def import_scientific(name: Literal["numpy", "scipy.stats"]) -> ModuleType:
    """Import a module on first use: SciPy's takes about a second, and most runs need none.

    Raises:
        MissingExtraError: The module is not installed.
    """
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            f"this statistic needs {name}, which is not installed; "
            "run: pip install 'plan-execute-monitor[statistics]'"
        ) from error
