"""The one way from blocking code into async code."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from agents.daemon_threads import DaemonExecutor

T = TypeVar("T")


def run_sync(start: Callable[[], Coroutine[object, object, T]]) -> T:
    """Run a coroutine to its end from blocking code, also where an event loop already runs (a notebook).

    In the latter case it runs on a loop of its own in another thread, with the caller's context
    variables, and the caller's loop waits.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return run_loop(start)
    context = contextvars.copy_context()
    with ThreadPoolExecutor(1, thread_name_prefix="run-sync") as executor:
        return executor.submit(context.run, run_loop, start).result()


def run_loop(start: Callable[[], Coroutine[object, object, T]]) -> T:
    """Run a coroutine on a new event loop that does not wait, at its end, for threads that block."""

    async def main() -> T:
        asyncio.get_running_loop().set_default_executor(DaemonExecutor())
        return await start()

    return asyncio.run(main())
