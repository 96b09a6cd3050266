"""Blocking code reads an async stream, and may leave it at any moment."""

from __future__ import annotations

import asyncio
import signal
import sys
import threading

import pytest

from orchestrator.runtime.streaming import iterate_blocking

WAIT_S = 20


class Source:
    """A stream that can be stopped from its first item on, as a run can."""

    def __init__(self, before=lambda: None):
        self.before = before
        self.begun = self.stopped = False
        self.left = threading.Event()

    async def items(self):
        self.before()
        try:
            await asyncio.sleep(0.1)
            self.begun = True
            yield 1
            async with asyncio.timeout(WAIT_S):
                while not self.stopped:  # noqa: ASYNC110 - another thread says so
                    await asyncio.sleep(0.01)
        finally:
            self.left.set()

    def stop(self):
        self.stopped = self.stopped or self.begun


def interrupt_main_thread():
    signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)


@pytest.mark.skipif(sys.platform == "win32", reason="no signal goes to one thread there")
def test_ctrl_c_before_the_first_item_stops_the_stream_and_waits_for_its_end():
    source = Source(interrupt_main_thread)

    with pytest.raises(KeyboardInterrupt):
        list(iterate_blocking(source.items, source.stop))

    assert (source.stopped, source.left.is_set()) == (True, True)


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
