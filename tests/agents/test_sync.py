import asyncio
import contextvars
import signal
import threading
import time
from contextlib import closing, suppress

import pytest

from agents.sync import iterate_blocking, run_loop, run_sync

request_id: contextvars.ContextVar[str] = contextvars.ContextVar("request_id", default="none")


async def _where() -> tuple[str, int]:
    await asyncio.sleep(0)
    return request_id.get(), threading.get_ident()


async def test_inside_a_running_loop_it_runs_beside_it_with_the_callers_context():
    request_id.set("seven")
    seen, thread = run_sync(_where)
    assert seen == "seven"
    assert thread != threading.get_ident()


# ------------------------------------------------------------------------------------ what is left running


LEFT: list[object] = []
"""The tasks that never end: asyncio logs it, in the middle of another test, if one is collected."""


async def never_ends() -> None:
    LEFT.append(asyncio.current_task())
    while True:
        with suppress(asyncio.CancelledError):
            await asyncio.sleep(3600)


async def _beside(start) -> asyncio.Task[None]:
    task = asyncio.ensure_future(start())
    await asyncio.sleep(0)
    return task


def test_a_task_that_swallows_its_cancellation_does_not_keep_the_run_from_returning(caplog):
    tasks = []

    async def main() -> str:
        tasks.append(await _beside(never_ends))
        return "done"

    started = time.monotonic()
    assert run_loop(main) == "done"
    assert time.monotonic() - started < 20
    assert not tasks[0].done()
    assert "left 1 tasks behind" in caplog.text


def test_a_task_that_is_still_running_has_time_to_tidy_up(caplog):
    tidied = threading.Event()

    async def tidy() -> None:
        try:
            await asyncio.sleep(3600)
        finally:
            await asyncio.sleep(0.01)
            tidied.set()

    async def main() -> None:
        await _beside(tidy)

    run_loop(main)
    assert tidied.is_set()
    assert caplog.records == []


def test_a_thread_that_blocks_is_not_waited_for():
    release = threading.Event()

    async def main() -> str:
        await _beside(lambda: asyncio.to_thread(release.wait, 60))
        return "done"

    started = time.monotonic()
    assert run_loop(main) == "done"
    assert time.monotonic() - started < 20
    release.set()


# ---------------------------------------------------------------------------------------------- Ctrl-C


def press_ctrl_c() -> None:
    signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)


def test_ctrl_c_lets_the_coroutine_tidy_up():
    tidied = threading.Event()

    async def main() -> None:
        try:
            asyncio.get_running_loop().call_later(0.1, press_ctrl_c)  # when the caller waits
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(0.01)
            tidied.set()

    with pytest.raises(KeyboardInterrupt):
        run_loop(main)
    assert tidied.is_set()


def in_a_notebook(cell) -> None:
    """Call it within an event loop that, as a notebook's, leaves Ctrl-C to Python."""

    async def main() -> None:
        cell()

    with closing(asyncio.new_event_loop()) as loop:
        loop.run_until_complete(main())


def test_ctrl_c_in_a_notebook_cancels_the_coroutine():
    tidied = threading.Event()

    async def waits() -> None:
        try:
            asyncio.get_running_loop().call_later(0.1, press_ctrl_c)  # when the caller waits
            await asyncio.sleep(30)
        except asyncio.CancelledError:
            tidied.set()
            raise

    with pytest.raises(KeyboardInterrupt):
        in_a_notebook(lambda: run_sync(waits))
    assert tidied.wait(20)


def test_ctrl_c_in_a_notebook_does_not_wait_for_a_coroutine_that_swallows_its_cancellation():
    release, started = threading.Event(), time.monotonic()

    async def stubborn() -> None:
        asyncio.get_running_loop().call_later(0.1, press_ctrl_c)  # when the caller waits
        while not release.is_set() and time.monotonic() < started + 30:
            with suppress(asyncio.CancelledError):
                await asyncio.sleep(0.05)

    with pytest.raises(KeyboardInterrupt):
        in_a_notebook(lambda: run_sync(stubborn))
    release.set()
    assert time.monotonic() - started < 20


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
