"""Ctrl-C and other requests to end: the first keeps what was done, the second ends the process.

Where nothing was done yet, or all is done, the first ends it.
"""

from __future__ import annotations

import os
import select
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Final, NoReturn, TypeVar

Made = TypeVar("Made")
INTERRUPTED: Final = 130
"""The exit status that a shell gives to a command ended by Ctrl-C."""
_SHOW_CURSOR: Final = b"\x1b[?25h"
_ENDINGS: Final = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)


def end_on_ctrl_c() -> None:
    """Have Ctrl-C end the process with one line and status 130, wherever it is.

    No exception: libraries swallow one that comes while they are imported, or print it with a traceback.
    """
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, _end)


def _end(_signal: int, _frame: FrameType | None) -> NoReturn:
    with suppress(OSError, ValueError):  # whoever read standard error is gone, or it was closed
        _tell_terminal(_SHOW_CURSOR + b"\r")  # over the ^C that the terminal shows itself
        os.write(sys.stderr.fileno(), b"orchestrator: interrupted\n")
    os._exit(INTERRUPTED)


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
        # The live view hides it, and would have no time to bring it back if a second signal came.
        _tell_terminal(_SHOW_CURSOR)
        cancel()

    try:
        for number in heeded:
            signal.signal(number, first)
        yield lambda: bool(came)
    finally:
        for number in heeded:
            signal.signal(number, before[number])


def unless_interrupted(make: Callable[[], Made]) -> Made | None:
    """What ``make`` makes; None where one of these signals came first."""
    try:
        with interruptible(_give_up) as interrupted:
            made = make()
    except _Interruption:
        return None
    # A library may have swallowed the exception.
    return None if interrupted() else made


def line_or_signal() -> str:
    """The next line of standard input, a terminal; "" at its end, and where a signal comes before.

    Python would sleep through a signal that came after its last look and before it began to read.
    """
    with _told_of_signals() as signals:
        ready, _, _ = select.select([sys.stdin, signals], [], [])
    return "" if signals in ready else sys.stdin.readline()


@contextmanager
def _told_of_signals() -> Iterator[int]:
    """Where there is something to read as soon as one has come."""
    ours, theirs = os.pipe()
    os.set_blocking(theirs, False)
    before = signal.set_wakeup_fd(theirs, warn_on_full_buffer=False)
    try:
        yield ours
    finally:
        signal.set_wakeup_fd(before)
        os.close(ours)
        os.close(theirs)


class _Interruption(BaseException):
    """No KeyboardInterrupt: Python notes one in generated code, and dies of it later though it was caught."""


def _give_up() -> NoReturn:
    raise _Interruption


def _tell_terminal(sequence: bytes) -> None:
    if sys.stderr.isatty():
        os.write(sys.stderr.fileno(), sequence)
