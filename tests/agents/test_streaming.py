"""Blocking code reads an async stream, and may leave it at any moment."""

from __future__ import annotations

import asyncio
import threading

import pytest

from agents.sync import iterate_blocking

WAIT_S = 20


class Source:
    """A stream that goes on until it is stopped."""

    def __init__(self):
        self.stopped = False
        self.left = threading.Event()

    async def items(self):
        try:
            yield 1
            async with asyncio.timeout(WAIT_S):
                while not self.stopped:  # noqa: ASYNC110 - another thread says so
                    await asyncio.sleep(0.01)
        finally:
            self.left.set()

    def stop(self):
        self.stopped = True


def test_a_reader_that_leaves_stops_the_stream_and_waits_for_its_end():
    source = Source()
    reading = iterate_blocking(source.items, source.stop)
    next(reading)
    reading.close()

    assert (source.stopped, source.left.is_set()) == (True, True)


def test_an_error_of_the_stream_is_raised_after_its_last_item():
    async def failing():
        yield 1
        raise ValueError("no more")

    reading = iterate_blocking(failing, lambda: None)
    assert next(reading) == 1
    with pytest.raises(ValueError, match="no more"):
        next(reading)
