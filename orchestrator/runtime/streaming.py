"""Lets blocking code read an async stream."""

from __future__ import annotations

import contextvars
import queue
import threading
from collections.abc import AsyncGenerator, Callable, Iterator
from concurrent.futures import Future, wait
from contextlib import aclosing
from functools import partial
from typing import Final, TypeVar

from agents.sync import resolve_future, run_in_daemon_thread, run_loop

T = TypeVar("T")


class _End:
    """Marks the end of the items."""


_END: Final = _End()


def iterate_blocking(start: Callable[[], AsyncGenerator[T, None]], stop: Callable[[], None]) -> Iterator[T]:
    """Yields the items of an async stream, which runs on an event loop in another thread.

    Args:
        start: Creates the stream.
        stop: Asks the stream to end. Called if the reader leaves early, for example with Ctrl-C; the reader
            then waits for the end.
    """
    # Unbounded: a slow reader must not slow down the run.
    items: queue.SimpleQueue[T | _End] = queue.SimpleQueue()
    has_left, outcome = threading.Event(), Future[None]()

    async def forward_items() -> None:
        async with aclosing(start()) as stream:
            async for item in stream:
                items.put(item)
                # stop() may have no effect before the first item, so it is repeated after one.
                if has_left.is_set():
                    stop()

    try:
        run_stream = partial(run_loop, forward_items)
        run_in_context = partial(contextvars.copy_context().run, _run_to_end, run_stream, items)
        run_in_daemon_thread(partial(resolve_future, outcome, run_in_context))
        while not isinstance(item := items.get(), _End):
            yield item
    finally:
        has_left.set()
        if not (outcome.done() or outcome.cancel()):
            stop()
            wait((outcome,))
    outcome.result()


def _run_to_end(run_stream: Callable[[], None], items: queue.SimpleQueue[T | _End]) -> None:
    try:
        run_stream()
    finally:
        items.put(_END)
