"""Reads a task from the command line, from a file or from standard input."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

from orchestrator.cli.view.text import one_line
from orchestrator.errors import ConfigurationError

_STANDARD_INPUT: Final = "-"


def read_task(task: str | None, file: str | None) -> str:
    """Return the text of a task, without the blank lines around it.

    Args:
        task: The text; "-" is standard input.
        file: Path of a file with the text; "-" is standard input.

    Raises:
        ConfigurationError: Neither or both are given, or the text cannot be read.
    """
    if _STANDARD_INPUT in (task, file) and None in (task, file):
        return _decode(_read_standard_input(), "standard input").strip()
    if task is not None and file is None:
        return task
    if task is not None:
        raise ConfigurationError("TASK and --task-file contradict each other; give one of them")
    if file is None:
        raise ConfigurationError(
            'the task is missing; give a TASK in quotation marks, "-" to read it from standard input, '
            "or --task-file FILE"
        )
    return _decode(_read_file(file), f"--task-file {file!r}").strip()


def _read_standard_input() -> bytes:
    if sys.stdin is None:
        raise ConfigurationError("standard input is closed; give the task as TASK or in --task-file FILE")
    if sys.stdin.isatty():
        sys.stderr.write("Type the task, and end it with Ctrl-D on a line of its own:\n")
    return sys.stdin.buffer.read()


def _read_file(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except (OSError, ValueError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        raise ConfigurationError(
            f"--task-file {one_line(path, 200)!r} cannot be read ({reason}); give a text file"
        ) from None


def _decode(content: bytes, name: str) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ConfigurationError(f"{name} is not text in UTF-8; save the task in UTF-8") from None
