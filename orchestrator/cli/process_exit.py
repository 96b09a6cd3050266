"""How a process ends: the exit statuses of every command, Ctrl-C and the other signals."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Final, NoReturn

SUCCESS: Final = 0
FAILED: Final = 1
BAD_INPUT: Final = 2
WAITING: Final = 3
"""A run waits for a person's answer."""
INTERRUPTED: Final = 130
"""The status that a shell reports for a command ended by Ctrl-C."""
_END_SIGNALS: Final = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)


def exit_on_signal() -> None:
    """Lets a signal end the process with one line, until a run handles it."""
    for number in _list_handled():
        signal.signal(number, _exit_interrupted)


def _exit_interrupted(_number: int, _frame: FrameType | None) -> NoReturn:
    start = b"\n" if os.isatty(2) else b""  # a terminal has the ^C of the key
    with suppress(OSError):
        os.write(2, start + b"orchestrator: interrupted\n")
    # No exception: libraries swallow one that is raised while they are imported, or print a traceback.
    os._exit(INTERRUPTED)


def _list_handled() -> list[int]:
    """Lists the signals to handle: nohup, and shells for background jobs, ignore a signal on purpose."""
    return [number for number in _END_SIGNALS if signal.getsignal(number) is not signal.SIG_IGN]


@contextmanager
def stop_on_signal(stop: Callable[[], None]) -> Iterator[Callable[[], bool]]:
    """Calls ``stop`` at the first signal. A second signal ends the process.

    Args:
        stop: Called inside a signal handler.

    Yields:
        A function that returns whether a signal came.
    """
    received: list[int] = []
    previous = {number: signal.getsignal(number) for number in _list_handled()}

    def handle_first(number: int, _frame: FrameType | None) -> None:
        for each in previous:
            signal.signal(each, signal.SIG_DFL)
        received.append(number)
        stop()

    try:
        for number in previous:
            signal.signal(number, handle_first)
        yield lambda: bool(received)
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


@contextmanager
def raise_on_ctrl_c() -> Iterator[None]:
    """Lets Ctrl-C raise KeyboardInterrupt inside the block."""
    previous = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)
