"""Lets blocking code read an async stream."""

from __future__ import annotations

import queue
from collections.abc import AsyncGenerator, Callable, Iterator
from concurrent.futures import Future, wait
from contextlib import aclosing
from functools import partial
from typing import TypeVar

from agents.sync import run_loop, start_call

T = TypeVar("T")


def iterate_blocking(start: Callable[[], AsyncGenerator[T, None]], stop: Callable[[], None]) -> Iterator[T]:
    """Yields the items of an async stream, which runs on an event loop in another thread.

    Args:
        start: Creates the stream.
        stop: Asks the stream to end. Called if the reader leaves early, for example with Ctrl-C; the reader
            then waits for the end.
    """
    # Unbounded: a slow reader must not slow down the run.
    items: queue.SimpleQueue[tuple[T, ...]] = queue.SimpleQueue()
    outcome = Future[None]()

    async def forward_items() -> None:
        try:
            async with aclosing(start()) as stream:
                async for item in stream:
                    items.put((item,))
        finally:
            # An empty batch marks the end.
            items.put(())

    try:
        start_call(outcome, partial(run_loop, forward_items))
        while batch := items.get():
            yield from batch
    finally:
        if not (outcome.done() or outcome.cancel()):
            stop()
            wait((outcome,))
    outcome.result()
