"""How an agent's method is awaited, whichever way it was written."""

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
from orchestrator.state.plain_values import text_of

T = TypeVar("T")
AgentMethod = Callable[..., Awaitable[T]]


def agent_method(agent: object, name: str) -> AgentMethod[object]:
    """The way to await a method: its async twin, the method itself, or a thread that runs it."""
    method = getattr(agent, chosen_method(agent, name))
    return partial(_on_the_loop if inspect.iscoroutinefunction(method) else _in_thread, method)


def chosen_method(agent: object, name: str) -> str:
    """Which method is called for a name: its async twin, or the one of that name.

    A subclass that overrides only the plain method is called by that one.
    """
    twin = f"a{name}"
    if inspect.iscoroutinefunction(getattr(agent, name)) or newest(agent, name, twin) == name:
        return name
    return twin if inspect.iscoroutinefunction(getattr(agent, twin)) else name


def newest(agent: object, name: str, other: str) -> str:
    """Which of two methods for one purpose was defined last: on the object, else nearest in its class.

    ``other`` where both are defined in the same place.
    """
    own = getattr(agent, "__dict__", {})
    if name in own or other in own:
        return other if other in own else name
    for parent in type(agent).__mro__:
        if other in vars(parent):
            return other
        if name in vars(parent):
            return name
    return name


def correction_method(executor: object) -> AgentMethod[object] | None:
    """The way to await ``correct_step``; None where the executor does not correct."""
    return agent_method(executor, "correct_step") if corrects(executor) else None


def corrects(executor: object) -> bool:
    """Whether an executor has a ``correct_step`` that is as new as its ``execute_step``."""
    return newest(executor, "execute_step", "correct_step") == "correct_step"


def compressor_method(compressor: Compressor | None) -> AgentMethod[object] | None:
    """The way to await a compressor, called with the context and the task."""
    if compressor is None:
        return None
    name = compressing_method(compressor)
    method = agent_method(compressor, name)
    if name == "compress":
        return method

    async def shorten(text: str, _task: str) -> object:
        return await method(text)

    return shorten


def compressing_method(compressor: Compressor) -> str:
    """Which of a compressor's methods was defined last; only ``compress`` takes the task."""
    name = "invoke" if isinstance(compressor, InvokableCompressor) else "_run"
    newer = all(newest(compressor, plain, "compress") == "compress" for plain in (name, "_run"))
    return "compress" if newer else name


async def _on_the_loop(method: AgentMethod[object], *args: str, **kwargs: str) -> object:
    try:
        return await method(*args, **kwargs)
    except SystemExit as error:
        raise _holdable(error) from error


async def _in_thread(method: Callable[..., object], *args: str, **kwargs: str) -> object:
    """Run a plain method off the event loop, with the caller's context."""
    loop = asyncio.get_running_loop()
    outcome: asyncio.Future[object] = loop.create_future()
    call = partial(contextvars.copy_context().run, method, *args, **kwargs)
    run_in_daemon_thread(partial(_settle, call, loop, outcome))
    value = await outcome
    return await _on_the_loop(lambda: value) if inspect.isawaitable(value) else value


def _settle(
    call: Callable[[], object], loop: asyncio.AbstractEventLoop, outcome: asyncio.Future[object]
) -> None:
    try:
        result = partial(_hand_over, outcome, call(), None)
    except BaseException as error:  # noqa: BLE001 - raised again where the method is awaited
        result = partial(_hand_over, outcome, None, _holdable(error))
    with suppress(RuntimeError):  # the loop was closed meanwhile: nobody waits any more
        loop.call_soon_threadsafe(result)


def _holdable(error: BaseException) -> BaseException:
    """The error as a future can hold it, without ending the loop or the process from there."""
    if isinstance(error, Exception) and not isinstance(error, StopIteration):
        return error
    wrapped = RuntimeError(f"the agent raised {type(error).__name__}: {text_of(error)}")
    wrapped.__cause__ = error
    return wrapped


def _hand_over(outcome: asyncio.Future[object], value: object, error: BaseException | None) -> None:
    if outcome.done():
        return
    if error is None:
        outcome.set_result(value)
    else:
        outcome.set_exception(error)
