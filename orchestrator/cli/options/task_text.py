"""Reads a task from the command line, from a file or from standard input."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

from orchestrator.cli.view.terminal_text import one_line
from orchestrator.errors import ConfigurationError
from orchestrator.settings import check_task

_STANDARD_INPUT: Final = "-"


def read_task(task: str | None, file: str | None) -> str:
    """Returns the text of a task, without the blank lines around it.

    Args:
        task: The text; "-" is standard input.
        file: Path of a file with the text; "-" is standard input.

    Raises:
        ConfigurationError: Neither or both are given, or the text cannot be read or is blank.
    """
    if (task is None) == (file is None):
        raise ConfigurationError(
            'the task is missing or given twice; give either TASK in quotation marks, "-" for standard '
            "input, or --task-file FILE"
        )
    if file is None and task != _STANDARD_INPUT:
        return check_task(task)
    return check_task(_read_text(file or _STANDARD_INPUT).strip())


def _read_text(path: str) -> str:
    try:
        content = sys.stdin.buffer.read() if path == _STANDARD_INPUT else Path(path).read_bytes()
        return content.decode("utf-8-sig")
    except (OSError, ValueError) as error:
        reason = (isinstance(error, OSError) and error.strerror) or "it is no text in UTF-8"
        name = "standard input" if path == _STANDARD_INPUT else f"--task-file {one_line(path, 200)!r}"
        raise ConfigurationError(f"{name} cannot be read ({reason}); give a text in UTF-8") from None
