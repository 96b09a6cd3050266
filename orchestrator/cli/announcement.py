"""Shows on a terminal what a command does while its imports, or the weights, are loaded."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

ERASE_LINE: Final = "\r\x1b[2K"


@contextmanager
def announce(sentence: str) -> Iterator[None]:
    """Shows a sentence on standard error during the block; nothing if no terminal shows it.

    It uses no library, because it is shown before the first slow import.
    """
    if not sys.stderr.isatty():
        yield
        return
    # A file name may hold characters that a terminal obeys.
    sys.stderr.write("".join(filter(str.isprintable, sentence)))
    sys.stderr.flush()
    try:
        yield
    finally:
        sys.stderr.write(ERASE_LINE)
        sys.stderr.flush()
