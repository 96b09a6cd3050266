"""The one way from blocking code into async code."""

from __future__ import annotations

import asyncio
import contextvars
import logging
import os
import queue
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from functools import partial
from typing import Final, ParamSpec, TypeVar, cast

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


def run_in_daemon_thread(job: Job) -> None:
    """Run ``job``, which must not raise, in a thread that is idle, or else in a new one."""
    _pool.run(job)


class DaemonExecutor(ThreadPoolExecutor):
    """An executor over these threads, for an event loop: it ends without waiting for what blocks."""

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Run ``fn`` in a daemon thread."""
        future: Future[T] = Future()
        run_in_daemon_thread(partial(resolve_future, future, partial(fn, *args, **kwargs)))
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Leave what is running behind."""


def resolve_future(future: Future[T], call: Callable[[], T]) -> None:
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


_GRACE_S: Final = 1.0
"""Seconds that cancelled code has to tidy up before it is left behind."""

_HEED_S: Final = 0.2
"""Seconds after which a blocked thread looks for signals."""

_log: Final = logging.getLogger(__name__)


def run_sync(start: Callable[[], Coroutine[object, object, T]]) -> T:
    """Run a coroutine to its end from blocking code, also where an event loop already runs (a notebook).

    In the latter case it runs on a loop of its own in another thread, with the caller's context
    variables, and the caller's loop waits. Raises as ``run_loop`` does.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return run_loop(start)
    return _run_in_thread(start)


def run_loop(start: Callable[[], Coroutine[object, object, T]]) -> T:
    """Run a coroutine on a new event loop that waits, at its end, for nothing that will not end.

    Raises:
        KeyboardInterrupt: Ctrl-C came, and the coroutine, which was cancelled for it, has ended.
    """

    async def main() -> T:
        asyncio.get_running_loop().set_default_executor(DaemonExecutor())
        return await start()

    # The runner turns Ctrl-C into a cancellation. It is not closed, since that waits for every task.
    runner = asyncio.Runner(loop_factory=asyncio.new_event_loop)
    try:
        return runner.run(main())
    finally:
        _close_loop(runner.get_loop())


def _run_in_thread(start: Callable[[], Coroutine[object, object, T]]) -> T:
    """Run it in another thread; an exception that ends the wait for it (Ctrl-C) cancels it."""
    started: Future[Callable[[], None]] = Future()

    async def main() -> T:
        started.set_result(_cancel_of_current_task())
        return await start()

    outcome: Future[T] = Future()
    try:
        run_in_daemon_thread(
            partial(resolve_future, outcome, partial(contextvars.copy_context().run, run_loop, main))
        )
        return _wait_for(outcome)
    finally:
        if not (outcome.done() or outcome.cancel()):
            started.add_done_callback(lambda cancel: cancel.result()())
            wait((outcome,), _GRACE_S)


def _wait_for(outcome: Future[T]) -> T:
    # A wait without an end may sleep through Ctrl-C: on Windows, or where it comes as the wait begins.
    while not wait((outcome,), _HEED_S).done:
        pass
    return outcome.result()


def _cancel_of_current_task() -> Callable[[], None]:
    loop, task = asyncio.get_running_loop(), cast("asyncio.Task[object]", asyncio.current_task())

    def cancel() -> None:
        with suppress(RuntimeError):  # the loop was closed meanwhile: there is nothing to cancel any more
            loop.call_soon_threadsafe(task.cancel)

    return cancel


def _close_loop(loop: asyncio.AbstractEventLoop) -> None:
    loop.set_exception_handler(_report_unless_left)
    try:
        if left := loop.run_until_complete(_cancel_leftovers()):
            names = ", ".join(sorted(_describe_task(task) for task in left))
            _log.warning("left behind, since cancelling did not end it within %s s: %s", _GRACE_S, names)
    finally:
        loop.close()


async def _cancel_leftovers() -> set[asyncio.Task[object]]:
    """Cancel what still runs and close generators that are open; what goes on all the same is returned."""
    loop = asyncio.get_running_loop()
    stubborn = await _cancel_tasks(_other_tasks())
    closing = loop.create_task(loop.shutdown_asyncgens())
    await asyncio.wait((closing,), timeout=_GRACE_S)
    return stubborn | await _cancel_tasks(_other_tasks() - stubborn)


async def _cancel_tasks(tasks: set[asyncio.Task[object]]) -> set[asyncio.Task[object]]:
    """Those that did not end by it."""
    for task in tasks:
        task.cancel()
    return (await asyncio.wait(tasks, timeout=_GRACE_S))[1] if tasks else set()


def _other_tasks() -> set[asyncio.Task[object]]:
    return {task for task in asyncio.all_tasks() if task is not asyncio.current_task()}


def _describe_task(task: asyncio.Task[object]) -> str:
    """What it runs, down to what it waits for."""
    names, coroutine = list[str](), cast("object", task.get_coro())
    while isinstance(name := getattr(coroutine, "__qualname__", None), str):
        names.append(name)
        coroutine = getattr(coroutine, "cr_await", None)
    return " > ".join(names) or task.get_name()


def _report_unless_left(loop: asyncio.AbstractEventLoop, context: dict[str, object]) -> None:
    """What a loop says at its end, but for tasks that are left behind, and the generators they are in."""
    if "task" not in context and not getattr(context.get("asyncgen"), "ag_running", False):
        loop.default_exception_handler(context)
