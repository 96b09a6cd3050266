"""Imports objects that the user names as ``module:name``, and runs hooks: this runs the user's code."""

from __future__ import annotations

import asyncio
import inspect
import os
import sys
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, Final

from evaluation.cases.case_files import Hook, TaskCase
from evaluation.checks.commands import run_program
from evaluation.sensitive.scanner import describe_raised, keep_end

_MOST_SECONDS: Final = 600.0
_KEPT: Final = 2000
"""Characters of what a command prints."""


def import_name(name: str, *folders: Path) -> Any:  # noqa: ANN401 - whatever the user has put there
    """Imports an object. No name that a store, a model or a recorded run states may come here.

    Args:
        name: ``MODULE:NAME``, of an installed package or of a module in one of the folders.
        folders: The folders of the user's modules.

    Raises:
        ValueError: The module or the name does not exist, or the module raises.
    """
    # Last, so that no file of the folder replaces a module of Python or of an installed package.
    sys.path.extend(path for folder in folders if (path := str(folder.absolute())) not in sys.path)
    if ":" not in name:
        raise ValueError(f"{name!r} is not accepted; give MODULE:NAME, such as my_tools:TOOLS")
    try:
        return resolve_name(name)
    except BaseException as error:
        raise ValueError(
            f"{name!r} raised {describe_raised(error)}; give MODULE:NAME, and run the command in the folder "
            "of the module"
        ) from error


def run_hook(
    hook: Hook | None, case: TaskCase, folder: Path, functions: Mapping[str, Callable[[TaskCase], object]]
) -> str | None:
    """Runs the hook before or after an execution.

    Args:
        hook: A function by its name, which gets the case; or the words of a command, which finds the name of
            the case in the variable CASE_NAME. None for nothing.
        case: The case.
        folder: The working directory of a command.
        functions: The imported functions by name.

    Returns:
        Why it failed, in a sentence; None if it did not.
    """
    if hook is None:
        return None
    name = hook if isinstance(hook, str) else " ".join(hook)
    try:
        if not isinstance(hook, str):
            return (problem := _run_command(hook, case, folder)) and f"{name!r} {problem}"
        result = functions[hook](case)
        if inspect.iscoroutine(result):
            asyncio.run(result)
    except BaseException as error:  # noqa: BLE001 - the user's code
        return f"{name!r} raised {describe_raised(error)}"
    return None


def _run_command(words: list[str], case: TaskCase, folder: Path) -> str | None:
    environment = {**os.environ, "CASE_NAME": case.title}
    ended = run_program(words, folder, environment, b"", _MOST_SECONDS, _KEPT, threading.Event())
    printed = keep_end(ended.output.decode("utf-8", "replace").strip(), _KEPT)
    if ended.exit_status is None:
        return f"did not end within {_MOST_SECONDS:g} s"
    said = f": {printed}" if printed else ""
    return f"ended with exit status {ended.exit_status}{said}" if ended.exit_status else None
