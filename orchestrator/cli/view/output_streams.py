"""Keeps standard output for the results of a command; what else prints, prints on standard error."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, redirect_stdout
from io import UnsupportedOperation
from typing import Final, TextIO

_STDOUT: Final = 1
_STDERR: Final = 2


@contextmanager
def take_stdout(encoding: str | None = None) -> Iterator[TextIO]:
    """Yields a stream for results. Whatever else prints in the block, prints on standard error.

    This includes functions of the user, libraries in C, and programs that are started.

    Args:
        encoding: The encoding of the results. Default: as standard output.
    """
    stream = sys.stdout
    is_descriptor = _find_descriptor(stream) == _STDOUT
    with (
        _take_descriptor(stream, encoding) if is_descriptor else nullcontext(stream) as results,
        redirect_stdout(sys.stderr),
    ):
        yield results


def _find_descriptor(stream: TextIO) -> int | None:
    """Returns the file descriptor of a stream; None if it writes into memory."""
    try:
        return stream.fileno()
    except UnsupportedOperation:
        return None


@contextmanager
def _take_descriptor(stream: TextIO, encoding: str | None) -> Iterator[TextIO]:
    stream.flush()
    encoding = encoding or stream.encoding
    kept = os.dup(_STDOUT)
    os.dup2(_STDERR, _STDOUT)
    try:
        with open(kept, "w", encoding=encoding, errors=stream.errors, closefd=False) as results:
            yield results
    finally:
        stream.flush()  # what code has printed that kept the stream
        os.dup2(kept, _STDOUT)
        os.close(kept)
