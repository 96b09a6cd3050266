"""Ctrl-C: the first asks the run to end and keep what it has done, the second ends the process."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Final

_SHOW_CURSOR: Final = b"\x1b[?25h"


@contextmanager
def interruptible(cancel: Callable[[], None]) -> Iterator[Callable[[], bool]]:
    """Turn the first SIGINT into a call of ``cancel``, and leave the second to the system.

    Args:
        cancel: Called within a signal handler.

    Returns:
        A function that says whether the signal came, for who could not be cancelled yet.
    """
    came: list[bool] = []

    def first(_signal: int, _frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        came.append(True)
        _show_cursor()
        cancel()

    before = signal.getsignal(signal.SIGINT)
    if before is signal.SIG_IGN:  # whoever started the process does not want it interrupted
        yield lambda: False
        return
    signal.signal(signal.SIGINT, first)
    try:
        yield lambda: bool(came)
    finally:
        signal.signal(signal.SIGINT, before)


def _show_cursor() -> None:
    """The live view hides it, and would have no time to bring it back if a second signal came."""
    if sys.stderr.isatty():
        os.write(sys.stderr.fileno(), _SHOW_CURSOR)
