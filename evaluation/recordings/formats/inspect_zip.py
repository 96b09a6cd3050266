"""Logs of Inspect in a zip, which Inspect's own package reads."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Final
from zipfile import BadZipFile

from evaluation.errors import ContractError
from evaluation.sensitive.scanner import shorten

SIGN: Final = b"PK\x03\x04"
"""The first bytes of a zip."""


def read_log(path: Path) -> object:
    """Returns the log in a zip as Inspect writes it in JSON.

    Raises:
        ContractError: Inspect is not installed, or it cannot read the file.
    """
    try:
        logs = import_module("inspect_ai.log")
    except ModuleNotFoundError:
        raise ContractError(
            "a log of Inspect in a zip needs inspect_ai; install it, or run `inspect log convert --to json`"
        ) from None
    try:
        log: object = logs.read_eval_log(str(path)).model_dump(mode="json", exclude_none=True)
    except (ValueError, KeyError, OSError, NotImplementedError, BadZipFile) as error:
        raise ContractError(f"this zip is no whole log of Inspect: {shorten(str(error), 200)}") from None
    return log
