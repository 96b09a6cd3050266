"""Handles Ctrl-C and the other signals that end a process."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from types import FrameType
from typing import Final, NoReturn

from orchestrator.cli.process.opening import ERASE_LINE
from orchestrator.cli.process.statuses import INTERRUPTED

_SHOW_CURSOR: Final = b"\x1b[?25h"
_END_SIGNALS: Final = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)


@dataclass(frozen=True, slots=True)
class _EarlyExit:
    """Ends the process at Ctrl-C with a sentence and status 130."""

    sentence: str

    def __call__(self, _signal: int, _frame: FrameType | None) -> NoReturn:
        exit_now(self.sentence, INTERRUPTED)


def exit_on_ctrl_c() -> None:
    """Let Ctrl-C end the process with one line and status 130."""
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, _EarlyExit("interrupted"))


@contextmanager
def explain_ctrl_c(sentence: str) -> Iterator[None]:
    """Let Ctrl-C end the process with another sentence inside the block, if ``exit_on_ctrl_c`` was called."""
    previous = signal.getsignal(signal.SIGINT)
    # Another handler, or an ignored signal, is the choice of whoever started this process.
    if not isinstance(previous, _EarlyExit):
        yield
        return
    signal.signal(signal.SIGINT, _EarlyExit(sentence))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)


def exit_now(sentence: str, status: int) -> NoReturn:
    """End the process with a sentence on standard error."""
    # A terminal has the ^C of the key, and perhaps the line of `announce`.
    start = ERASE_LINE if sys.stderr.isatty() else ""
    with suppress(OSError):
        os.write(2, f"{start}orchestrator: {sentence}\n".encode())
    # No exception: libraries swallow one that is raised while they are imported, or print a traceback.
    os._exit(status)


@contextmanager
def stop_on_signal(stop: Callable[[], None]) -> Iterator[Callable[[], bool]]:
    """Call ``stop`` at the first signal. A second signal ends the process.

    Args:
        stop: Called inside a signal handler.

    Yields:
        A function that returns whether a signal came.
    """
    received: list[int] = []
    previous = {number: signal.getsignal(number) for number in _END_SIGNALS}
    # nohup, and shells for background jobs, ignore a signal on purpose.
    handled = [number for number, handler in previous.items() if handler is not signal.SIG_IGN]

    def handle_first(number: int, _frame: FrameType | None) -> None:
        for each in handled:
            signal.signal(each, signal.SIG_DFL)
        received.append(number)
        _show_cursor()
        stop()

    try:
        for number in handled:
            signal.signal(number, handle_first)
        yield lambda: bool(received)
    finally:
        for number in handled:
            signal.signal(number, previous[number])


def _show_cursor() -> None:
    # The live view hides the cursor; a second signal would end the process before it is shown again.
    if sys.stderr.isatty():
        os.write(sys.stderr.fileno(), _SHOW_CURSOR)


@contextmanager
def raise_on_ctrl_c() -> Iterator[None]:
    """Let Ctrl-C raise KeyboardInterrupt inside the block."""
    previous = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)
