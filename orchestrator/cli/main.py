"""Starts the process: prepares Ctrl-C and the output streams before the slow imports."""

from __future__ import annotations

import sys
from io import BufferedWriter, FileIO, TextIOWrapper
from typing import TYPE_CHECKING, TextIO

from orchestrator.cli.process.interruption import exit_now, exit_on_ctrl_c
from orchestrator.cli.process.statuses import FAILED

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


def main() -> None:
    """Run the command line and exit."""
    exit_on_ctrl_c()
    _prepare_streams()
    from orchestrator.cli.app import app  # noqa: PLC0415 - Ctrl-C during this import needs the handler

    app(prog_name="orchestrator")


def _prepare_streams() -> None:
    if sys.platform != "win32":  # where a console is not a file
        sys.stdout = _wrap_file(_ResultFile(1, "wb", closefd=False), sys.stdout)
        sys.stderr = _wrap_file(_LossyFile(2, "wb", closefd=False), sys.stderr)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            # A result with a character that the terminal's encoding lacks must still be printed.
            stream.reconfigure(errors="replace")


def _wrap_file(file: FileIO, stream: TextIO) -> TextIO:
    return TextIOWrapper(BufferedWriter(file), stream.encoding, line_buffering=True)


class _ResultFile(FileIO):
    """Ends the process if a result cannot be written: status 0 would claim that the reader has it."""

    def write(self, data: ReadableBuffer, /) -> int:
        try:
            return super().write(data)
        except OSError as error:
            # Not an exception: Rich and Typer end silently if a pipe is closed.
            exit_now(f"the result cannot be written to standard output ({error.strerror})", FAILED)


class _LossyFile(FileIO):
    """Drops what cannot be written: a lost terminal or pipe must not end a run and lose its result."""

    def write(self, data: ReadableBuffer, /) -> int:
        try:
            return super().write(data)
        except OSError:
            return memoryview(data).nbytes
