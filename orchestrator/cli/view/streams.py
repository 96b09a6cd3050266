"""The standard streams, before anything is written to them."""

from __future__ import annotations

import os
import sys
from io import BufferedWriter, FileIO, TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


def accept_any_text() -> None:
    """Write what the streams' encoding has no form for as a question mark, rather than fail.

    A stream that was closed before the start swallows what is written, and so does standard error once
    nobody reads it any more: progress that is not seen is not worth the run.
    """
    sys.stdout = sys.stdout or _nowhere()
    sys.stderr = _while_read(sys.stderr) if sys.stderr else _nowhere()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")


def write_nowhere(descriptor: int) -> None:
    """Lead what is written to an open file from now on to nowhere."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, descriptor)
    os.close(nowhere)


class _WhileRead(FileIO):
    def write(self, data: ReadableBuffer, /) -> int:
        try:
            return super().write(data)
        except OSError:  # the other end of a pipe, or the terminal, is gone; or the disk is full
            write_nowhere(self.fileno())
            return memoryview(data).nbytes


def _while_read(stream: TextIO) -> TextIO:
    if sys.platform == "win32":  # whose console is no file
        return stream
    try:
        file = _WhileRead(stream.fileno(), "wb", closefd=False)
    except (OSError, ValueError):  # a stream in memory
        return stream
    return TextIOWrapper(BufferedWriter(file), stream.encoding, line_buffering=True)


def _nowhere() -> TextIO:
    return Path(os.devnull).open("w", encoding="utf-8")
