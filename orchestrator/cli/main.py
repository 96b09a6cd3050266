"""Starts the process: prepares Ctrl-C and the output streams before the slow imports."""

from __future__ import annotations

import os
import sys
from io import BufferedWriter, FileIO, TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from orchestrator.cli.interruption import exit_on_ctrl_c

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


def main() -> None:
    """Run the command line and exit."""
    exit_on_ctrl_c()
    _prepare_streams()
    from orchestrator.cli.app import app  # noqa: PLC0415 - Ctrl-C during this import needs the handler

    app(prog_name="orchestrator")


def _prepare_streams() -> None:
    # A stream that is closed before the start is None, and the next file that is opened gets its number.
    sys.stdout = sys.stdout or _open_nowhere()
    if not sys.stderr:
        sys.stderr = _open_nowhere()
    elif sys.platform != "win32":  # where a console is not a file
        stderr = BufferedWriter(_LossyFile(2, "wb", closefd=False))
        sys.stderr = TextIOWrapper(stderr, sys.stderr.encoding, line_buffering=True)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            # A result with a character that the terminal's encoding lacks must still be printed.
            stream.reconfigure(errors="replace")


def _open_nowhere() -> TextIO:
    return Path(os.devnull).open("w", encoding="utf-8")


class _LossyFile(FileIO):
    """Drops what cannot be written: a lost terminal or pipe must not end a run and lose its result."""

    def write(self, data: ReadableBuffer, /) -> int:
        try:
            return super().write(data)
        except OSError:
            return memoryview(data).nbytes
