"""Runs one logic blocking and async: conversations, and async code from blocking code.

Nothing waits for tasks or threads that never end.
"""

from __future__ import annotations

import asyncio
import contextvars
import logging
import os
import queue
import threading
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import aclosing, contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial, wraps
from inspect import signature
from typing import Any, Final, ParamSpec, TypeAlias, TypeVar, cast

C = TypeVar("C", bound="Callable[..., Any]")
P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")

_GRACE_S: Final = 1.0
"""Seconds that a cancelled task may clean up before it is left behind."""
_POLL_S: Final = 0.2
"""Seconds between two looks at pending signals in a blocked thread."""

_IDLE_S: Final = 10.0
"""Seconds that a thread waits for its next call before it ends."""
_IDLE: Final[list[queue.SimpleQueue[Callable[[], None]]]] = []
"""The queues of the threads that wait for a call; starting a thread costs more than most calls do."""

_log: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Call:
    """A call that the logic asks for. Its result is sent back to the logic, or its error raised there.

    Attributes:
        run: Makes the call.
        arun: Makes the call without blocking the event loop.
    """

    run: Callable[[], Any]
    arun: Callable[[], Awaitable[Any]]


Conversation: TypeAlias = Generator[Call, Any, T]


def call_either(
    run: Callable[P, object], arun: Callable[P, Awaitable[object]], *args: P.args, **options: P.kwargs
) -> Call:
    """Returns a call of one of two functions: the one that blocks, or the one to await."""
    return Call(partial(run, *args, **options), partial(arun, *args, **options))


def run_conversation(conversation: Conversation[T]) -> T:
    """Runs a conversation to its end with blocking calls."""
    step: Call | T = _advance(conversation.send, None)
    while isinstance(step, Call):
        try:
            result = step.run()
        except BaseException as error:  # noqa: BLE001 - raised again by the logic
            step = _advance(conversation.throw, error)
        else:
            step = _advance(conversation.send, result)
    return step


async def arun_conversation(conversation: Conversation[T]) -> T:
    """Runs a conversation to its end with awaited calls."""
    step: Call | T = _advance(conversation.send, None)
    while isinstance(step, Call):
        try:
            result = await step.arun()
        except BaseException as error:  # noqa: BLE001 - raised again by the logic
            step = _advance(conversation.throw, error)
        else:
            step = _advance(conversation.send, result)
    return step


def blocking(converse: Callable[P, Conversation[T]]) -> Callable[P, T]:
    """Makes a method of one that returns a conversation: it runs it with blocking calls."""

    @wraps(converse)
    def run(*args: P.args, **options: P.kwargs) -> T:
        return run_conversation(converse(*args, **options))

    return _describe(run, converse, "")


def awaited(converse: Callable[P, Conversation[T]]) -> Callable[P, Coroutine[Any, Any, T]]:
    """Makes a method of one that returns a conversation: it runs it without blocking the event loop."""

    @wraps(converse)
    async def run(*args: P.args, **options: P.kwargs) -> T:
        return await arun_conversation(converse(*args, **options))

    return _describe(run, converse, "a")


@contextmanager
def set_variable(variable: ContextVar[Any], value: T) -> Iterator[T]:
    """Sets a context variable for a block of code, which gets the value."""
    token = variable.set(value)
    try:
        yield value
    finally:
        variable.reset(token)


def _describe(run: C, converse: Callable[..., Conversation[Any]], prefix: str) -> C:
    """Sets the name, which pickle looks up, and shows the type of the result in the signature."""
    run.__name__ = prefix + converse.__name__.removeprefix("_")
    run.__qualname__ = converse.__qualname__.removesuffix(converse.__name__) + run.__name__
    shown = str(converse.__annotations__["return"]).removeprefix("Conversation[").removesuffix("]")
    vars(run)["__signature__"] = signature(converse).replace(return_annotation=shown)
    return run


def _advance(resume: Callable[[Any], Call], value: object) -> Any:  # noqa: ANN401 - a call, or the result
    try:
        return resume(value)
    except StopIteration as end:
        return end.value


def start_call(outcome: Future[T], call: Callable[[], T]) -> Future[T]:
    """Runs a call in a daemon thread, with the context variables of the caller; returns its outcome.

    The caller makes the future, so that it has one if Ctrl-C is pressed in here.
    """
    in_context = partial(contextvars.copy_context().run, call)
    job = partial(_resolve, outcome, in_context)
    try:
        calls = _IDLE.pop()
    except IndexError:
        calls = queue.SimpleQueue()
        # A daemon thread: the interpreter would wait for any other one, and an agent may block for ever.
        threading.Thread(target=_work, args=(calls,), name="blocking-agent", daemon=True).start()
    calls.put(job)
    return outcome


def _work(calls: queue.SimpleQueue[Callable[[], None]]) -> None:
    """Makes one call after another, until none comes for a time."""
    while True:
        try:
            calls.get(timeout=_IDLE_S)()
        except queue.Empty:
            try:
                _IDLE.remove(calls)
            except ValueError:  # taken at this moment: a call follows
                continue
            return
        _IDLE.append(calls)


if hasattr(os, "register_at_fork"):  # a forked process has none of the threads
    os.register_at_fork(after_in_child=_IDLE.clear)


async def run_in_thread(call: Callable[[], T]) -> T:
    """Runs a blocking call in a daemon thread, with the context variables of the caller.

    Raises:
        RuntimeError: The call raised StopIteration, which a future refuses, or an error that ends a process.
    """
    # Not asyncio.to_thread: its threads keep the process alive until a blocked agent returns.
    return await asyncio.wrap_future(start_call(Future[T](), partial(_contain, call)))


def _contain(call: Callable[[], T]) -> T:
    try:
        return call()
    except (StopIteration, SystemExit, KeyboardInterrupt) as error:
        raise RuntimeError(f"the agent raised {type(error).__name__}: {error}") from error


class DaemonExecutor(ThreadPoolExecutor):
    """An event loop's executor that ends without waiting for a blocked thread."""

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Runs ``fn`` in a daemon thread."""
        return start_call(Future[T](), partial(fn, *args, **kwargs))

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Leaves running threads behind."""


def _resolve(future: Future[T], call: Callable[[], T]) -> None:
    """Sets a future to the result or the exception of ``call``, unless it was cancelled before."""
    if not future.set_running_or_notify_cancel():
        return
    try:
        value = call()
    except BaseException as error:  # noqa: BLE001 - raised again by the future
        future.set_exception(error)
    else:
        future.set_result(value)


def run_sync(start: Callable[[], Coroutine[object, object, T]]) -> T:
    """Runs a coroutine to its end from blocking code, also inside a running event loop (a notebook).

    Inside a running loop, the coroutine runs on its own loop in another thread, with the caller's context
    variables, and the caller's loop waits. Raises as ``run_loop`` does.
    """
    # Outside of the except block: an error of the coroutine must not name the missing loop as its context.
    return run_loop(start) if find_running_loop() is None else _run_in_thread(start)


def find_running_loop() -> asyncio.AbstractEventLoop | None:
    """Returns the event loop that runs in this thread; None if there is none."""
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def run_loop(start: Callable[[], Coroutine[object, object, T]]) -> T:
    """Runs a coroutine on a new event loop.

    Raises:
        KeyboardInterrupt: Ctrl-C was pressed; the coroutine was cancelled and has ended.
    """

    async def main() -> T:
        asyncio.get_running_loop().set_default_executor(DaemonExecutor())
        return await start()

    # Runner turns Ctrl-C into a cancellation. It is never closed, because closing it waits for every task.
    runner = asyncio.Runner(loop_factory=asyncio.new_event_loop)
    try:
        return runner.run(main())
    finally:
        _close_loop(runner.get_loop())


def _run_in_thread(start: Callable[[], Coroutine[object, object, T]]) -> T:
    """Runs a coroutine in another thread, and cancels it if Ctrl-C ends the wait."""
    started: Future[Callable[[], None]] = Future()

    async def main() -> T:
        started.set_result(_cancel_of_current_task())
        return await start()

    outcome: Future[T] = Future()
    try:
        start_call(outcome, partial(run_loop, main))
        # A wait without a timeout may miss Ctrl-C: on Windows, or if it comes as the wait begins.
        while not wait((outcome,), _POLL_S).done:
            pass
        return outcome.result()
    finally:
        if not (outcome.done() or outcome.cancel()):
            started.add_done_callback(lambda cancel: cancel.result()())
            wait((outcome,), _GRACE_S)


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


def _cancel_of_current_task() -> Callable[[], None]:
    loop, task = asyncio.get_running_loop(), cast("asyncio.Task[object]", asyncio.current_task())

    def cancel() -> None:
        with suppress(RuntimeError):  # a closed loop: the task has ended
            loop.call_soon_threadsafe(task.cancel)

    return cancel


def _close_loop(loop: asyncio.AbstractEventLoop) -> None:
    try:
        if left := loop.run_until_complete(_cancel_leftovers()):
            _log.warning("left %d tasks behind that did not end within %s s", len(left), _GRACE_S)
    finally:
        loop.close()


async def _cancel_leftovers() -> set[asyncio.Task[object]]:
    """Cancels all tasks and closes open generators. Returns the tasks that did not end."""
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    for task in tasks:
        task.cancel()
    left = (await asyncio.wait(tasks, timeout=_GRACE_S))[1] if tasks else set()
    closing = asyncio.create_task(asyncio.get_running_loop().shutdown_asyncgens())
    await asyncio.wait((closing,), timeout=_GRACE_S)
    closing.cancel()
    return left
