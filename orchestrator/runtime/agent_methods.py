"""Chooses the method of an agent, sync or async, and makes it awaitable."""

from __future__ import annotations

import asyncio
import contextvars
import inspect
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from typing import TypeVar

from agents.sync import run_in_daemon_thread
from orchestrator.runtime.protocols import Compressor, InvokableCompressor
from orchestrator.state.plain_values import format_text

T = TypeVar("T")
AgentMethod = Callable[..., Awaitable[T]]


def bind_method(agent: object, name: str) -> AgentMethod[object]:
    """Returns an awaitable function that calls the agent's method, or the async method of that name."""
    method = getattr(agent, choose_method(agent, name))
    return partial(_call_on_loop if inspect.iscoroutinefunction(method) else _call_in_thread, method)


def choose_method(agent: object, name: str) -> str:
    """Chooses between ``name`` and its async method ``aname``."""
    # A subclass that overrides only the plain method expects its override to be called.
    async_name = f"a{name}"
    if inspect.iscoroutinefunction(getattr(agent, name)) or choose_newest(agent, name, async_name) == name:
        return name
    return async_name if inspect.iscoroutinefunction(getattr(agent, async_name)) else name


def choose_newest(agent: object, name: str, other: str) -> str:
    """Chooses the method that was defined last: on the object itself, else nearest in the class hierarchy.

    Returns ``other`` if both are defined in the same place.
    """
    # A method that is set on the object replaces all methods of its class.
    attributes = getattr(agent, "__dict__", {})
    if name in attributes or other in attributes:
        return other if other in attributes else name
    for parent in type(agent).__mro__:
        if other in vars(parent):
            return other
        if name in vars(parent):
            return name
    return name


def bind_correction(executor: object) -> AgentMethod[object] | None:
    """Returns an awaitable ``correct_step``; None if the executor has none."""
    return bind_method(executor, "correct_step") if can_correct(executor) else None


def can_correct(executor: object) -> bool:
    """Checks whether an executor has a ``correct_step`` that is as new as its ``execute_step``."""
    return choose_newest(executor, "execute_step", "correct_step") == "correct_step"


def bind_compressor(compressor: Compressor | None) -> AgentMethod[object] | None:
    """Returns an awaitable function of the context and the task; None without a compressor."""
    if compressor is None:
        return None
    name = choose_compression(compressor)
    method = bind_method(compressor, name)
    if name == "compress":
        return method

    async def compress_text(text: str, _task: str) -> object:
        return await method(text)

    return compress_text


def choose_compression(compressor: Compressor) -> str:
    """Chooses the compressor's method that was defined last. Only ``compress`` takes the task."""
    name = "invoke" if isinstance(compressor, InvokableCompressor) else "_run"
    is_newest = all(choose_newest(compressor, other, "compress") == "compress" for other in (name, "_run"))
    return "compress" if is_newest else name


async def _call_on_loop(method: AgentMethod[object], *args: str, **kwargs: str) -> object:
    try:
        return await method(*args, **kwargs)
    except SystemExit as error:
        raise _wrap_error(error) from error


async def _call_in_thread(method: Callable[..., object], *args: str, **kwargs: str) -> object:
    """Runs a plain method in a thread, with the context variables of the caller."""
    # Not asyncio.to_thread: its threads keep the process alive until a blocked agent returns.
    loop = asyncio.get_running_loop()
    outcome: asyncio.Future[object] = loop.create_future()
    call = partial(contextvars.copy_context().run, method, *args, **kwargs)
    run_in_daemon_thread(partial(_call_and_report, call, loop, outcome))
    value = await outcome
    return await _call_on_loop(lambda: value) if inspect.isawaitable(value) else value


def _call_and_report(
    call: Callable[[], object], loop: asyncio.AbstractEventLoop, outcome: asyncio.Future[object]
) -> None:
    try:
        report = partial(_set_result, outcome, call(), None)
    except BaseException as error:  # noqa: BLE001 - raised again by the future
        report = partial(_set_result, outcome, None, _wrap_error(error))
    # A closed loop raises RuntimeError: the run is over, and nobody waits for the outcome.
    with suppress(RuntimeError):
        loop.call_soon_threadsafe(report)


def _wrap_error(error: BaseException) -> BaseException:
    """Wraps an error that a future refuses (StopIteration) or that would end the process (SystemExit)."""
    if isinstance(error, Exception) and not isinstance(error, StopIteration):
        return error
    wrapper = RuntimeError(f"the agent raised {type(error).__name__}: {format_text(error)}")
    wrapper.__cause__ = error
    return wrapper


def _set_result(outcome: asyncio.Future[object], value: object, error: BaseException | None) -> None:
    if outcome.done():
        return
    if error is None:
        outcome.set_result(value)
    else:
        outcome.set_exception(error)
