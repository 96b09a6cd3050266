"""An async stream read by blocking code."""

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
    """Comes after the last item."""


_END: Final = _End()


def blocking(start: Callable[[], AsyncGenerator[T, None]], stop: Callable[[], None]) -> Iterator[T]:
    """Yield what the async stream yields, as it comes; it runs on an event loop in another thread.

    Args:
        start: Makes the stream.
        stop: Asks it to end; called when the reader leaves early (Ctrl-C is one way), who then waits for
            the end. It need not have an effect before the stream's first item.
    """
    items: queue.SimpleQueue[T | _End] = queue.SimpleQueue()
    left, outcome = threading.Event(), Future[None]()

    async def forward() -> None:
        async with aclosing(start()) as stream:
            async for item in stream:
                items.put(item)
                if left.is_set():
                    stop()

    try:
        pump = partial(contextvars.copy_context().run, _pump, partial(run_loop, forward), items)
        run_in_daemon_thread(partial(resolve_future, outcome, pump))
        while not isinstance(item := items.get(), _End):
            yield item
    finally:
        left.set()
        if not (outcome.done() or outcome.cancel()):
            stop()
            wait((outcome,))
    outcome.result()


def _pump(forward: Callable[[], None], items: queue.SimpleQueue[T | _End]) -> None:
    try:
        forward()
    finally:
        items.put(_END)
