"""Imports the libraries of the extra ``statistics``."""

from __future__ import annotations

import importlib
from types import ModuleType

from evaluation.errors import MissingExtraError


def import_extra(module: str) -> ModuleType:
    """Import a module on first use: SciPy takes about a second, and most runs do not need it.

    Raises:
        MissingExtraError: The library is not installed.
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        library = module.partition(".")[0]
        raise MissingExtraError(
            f"this statistic needs {library}, which is not installed; "
            "run: pip install scipy statsmodels krippendorff"
        ) from error
