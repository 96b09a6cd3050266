"""Ctrl-C and other requests to end: the first keeps what was done, the second ends the process."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Final

_SHOW_CURSOR: Final = b"\x1b[?25h"
_ENDINGS: Final = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)


@contextmanager
def interruptible(cancel: Callable[[], None]) -> Iterator[Callable[[], bool]]:
    """Turn the first of these signals into a call of ``cancel``, and leave the next to the system.

    Args:
        cancel: Called within a signal handler.

    Returns:
        A function that says whether a signal came, for who could not be cancelled yet.
    """
    came: list[bool] = []
    before = {number: signal.getsignal(number) for number in _ENDINGS}
    # Whoever started the process and has a signal ignored (nohup) does not want it to end the run.
    heeded = [number for number, handler in before.items() if handler is not signal.SIG_IGN]

    def first(_signal: int, _frame: FrameType | None) -> None:
        for number in heeded:
            signal.signal(number, signal.SIG_DFL)
        came.append(True)
        _show_cursor()
        cancel()

    for number in heeded:
        signal.signal(number, first)
    try:
        yield lambda: bool(came)
    finally:
        for number in heeded:
            signal.signal(number, before[number])


def _show_cursor() -> None:
    """The live view hides it, and would have no time to bring it back if a second signal came."""
    if sys.stderr.isatty():
        os.write(sys.stderr.fileno(), _SHOW_CURSOR)
