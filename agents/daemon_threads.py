"""Threads for code that blocks, which hold up neither the end of a run nor that of the interpreter.

An event loop waits for the threads of its own executor before it closes, and the interpreter for those
of any executor: with an agent that blocks for ever, neither would end.
"""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")
Job = Callable[[], None]


class _Pool:
    """Threads that are kept for the next job; as many as jobs were ever under way at once."""

    def __init__(self) -> None:
        self._jobs: queue.SimpleQueue[Job] = queue.SimpleQueue()
        self._idle = threading.Semaphore(0)

    def run(self, job: Job) -> None:
        if not self._idle.acquire(blocking=False):
            threading.Thread(target=self._work, name="blocking-agent", daemon=True).start()
        # Last, so that Ctrl-C before it leaves no job that waits for a thread.
        self._jobs.put(job)

    def _work(self) -> None:
        while True:
            self._jobs.get()()
            self._idle.release()


_pool = _Pool()


def in_daemon_thread(job: Job) -> None:
    """Run ``job``, which must not raise, in a thread that is idle, or else in a new one."""
    _pool.run(job)


class DaemonExecutor(ThreadPoolExecutor):
    """An executor over these threads, for an event loop: it ends without waiting for what blocks."""

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Run ``fn`` in a daemon thread."""
        future: Future[T] = Future()
        in_daemon_thread(partial(fulfil, future, partial(fn, *args, **kwargs)))
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Leave what is running behind."""


def fulfil(future: Future[T], call: Callable[[], T]) -> None:
    """Settle a future with what ``call`` returns or raises, unless it was cancelled before."""
    if not future.set_running_or_notify_cancel():
        return
    try:
        value = call()
    except BaseException as error:  # noqa: BLE001 - raised again where the future is awaited
        future.set_exception(error)
    else:
        future.set_result(value)


def _start_anew() -> None:
    """In a forked child, where none of the parent's threads exist."""
    global _pool  # noqa: PLW0603 - one pool for a process
    _pool = _Pool()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_start_anew)
