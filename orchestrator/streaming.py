"""An async stream read by blocking code."""

from __future__ import annotations

import contextvars
import queue
import threading
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import aclosing
from dataclasses import dataclass
from typing import TypeVar

from agents.sync import run_loop

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _End:
    error: BaseException | None


def blocking(start: Callable[[], AsyncGenerator[T, None]], stop: Callable[[], None]) -> Iterator[T]:
    """Yield what the async stream yields, as it comes; it runs on an event loop in another thread.

    Args:
        start: Makes the stream.
        stop: Asks it to end; called when the reader leaves early, who then waits for the end.
    """
    items: queue.SimpleQueue[T | _End] = queue.SimpleQueue()
    context = contextvars.copy_context()
    worker = threading.Thread(target=context.run, args=(_pump, start, items), name="run-stream", daemon=True)
    worker.start()
    try:
        while not isinstance(item := items.get(), _End):
            yield item
    finally:
        if worker.is_alive():
            stop()
        worker.join()
    if item.error is not None:
        raise item.error


def _pump(start: Callable[[], AsyncGenerator[T, None]], items: queue.SimpleQueue[T | _End]) -> None:
    async def forward() -> None:
        async with aclosing(start()) as stream:
            async for item in stream:
                items.put(item)

    error: BaseException | None = None
    try:
        run_loop(forward)
    except BaseException as raised:  # noqa: BLE001 - raised again in the reader's thread
        error = raised
    items.put(_End(error))
