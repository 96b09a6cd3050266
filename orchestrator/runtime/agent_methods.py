"""Reads once which method of an agent is called, sync or async, and which optional arguments it takes."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import Final, TypeVar

from agents.sync import run_in_thread
from orchestrator.runtime.protocols import Compressor, InvokableCompressor
from orchestrator.state.plain_values import format_text

T = TypeVar("T")
AgentMethod = Callable[..., Awaitable[T]]

DOCUMENTED: Final = {
    "generate_plan": (("task",), ()),
    "execute_step": (("step",), ("context",)),
    "correct_step": (("step", "output", "feedback"), ("context",)),
    "synthesize": (("task", "results"), ()),
    "commit_step": (("step",), ("context",)),
    "assess_step": (("step", "commitment", "output"), ()),
    "evaluate": (("objective", "result"), ()),
    "compress": (("text", "task"), ()),
    "invoke": (("text",), ()),
    "_run": (("text",), ()),
}
"""The arguments of each method: by position, and by name."""
OPTIONAL: Final = ("task", "schema", "sampling", "evidence")


@dataclass(frozen=True, slots=True)
class BoundMethod:
    """A method of an agent that can be awaited.

    Attributes:
        method: The method of the agent.
        takes: The names in ``OPTIONAL`` that it takes beside its documented arguments.
    """

    method: Callable[..., object]
    takes: frozenset[str] = frozenset()

    async def __call__(self, *args: object, **named: object) -> object:
        """Calls the method; leaves out optional arguments that are empty or that it does not take."""
        passed = {name: value for name, value in named.items() if self._is_passed(name, value)}
        call = partial(self.method, *args, **passed)
        try:
            value = call() if inspect.iscoroutinefunction(self.method) else await run_in_thread(call)
            return await value if inspect.isawaitable(value) else value
        except SystemExit as error:
            raise RuntimeError(f"the agent raised SystemExit: {format_text(error)}") from error

    def _is_passed(self, name: str, value: object) -> bool:
        return name not in OPTIONAL or (name in self.takes and bool(value))


def bind_method(agent: object, name: str) -> BoundMethod:
    """Returns the agent's method, or the async method of that name, with the optional arguments it takes."""
    method = getattr(agent, choose_method(agent, name))
    return BoundMethod(method, frozenset(each for each in OPTIONAL if _takes(method, name, each)))


def _takes(method: Callable[..., object], name: str, added: str) -> bool:
    try:
        signature = bind_documented(method, name, added)
    except (TypeError, ValueError):
        return False
    # By name: a function with ``**kwargs`` may hand them to one that does not know the argument.
    return added in signature.parameters


def bind_documented(method: Callable[..., object], name: str, *added: str) -> inspect.Signature:
    """Returns the signature of a method that can be called with its documented arguments and ``added``.

    Raises:
        TypeError, ValueError: It cannot.
    """
    by_position, by_name = DOCUMENTED.get(name, ((), ()))
    # Not the signature of a wrapped function: a decorator may add or remove arguments.
    signature = inspect.signature(method, follow_wrapped=False)
    # An argument "task" may also be the first one, under another name than ours.
    signature.bind(*by_position, **dict.fromkeys((*by_name, *added), ""))
    return signature


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
    for attributes in (getattr(agent, "__dict__", {}), *map(vars, type(agent).__mro__)):
        if other in attributes:
            return other
        if name in attributes:
            return name
    return name


def has_own(executor: object, name: str) -> bool:
    """Checks whether an executor has a method that is as new as its ``execute_step``."""
    return choose_newest(executor, "execute_step", name) == name


def choose_compression(compressor: Compressor) -> str:
    """Chooses the compressor's method that was defined last. Only ``compress`` takes the task."""
    name = "invoke" if isinstance(compressor, InvokableCompressor) else "_run"
    is_newest = all(choose_newest(compressor, other, "compress") == "compress" for other in (name, "_run"))
    return "compress" if is_newest else name


def bind_compressor(compressor: Compressor | None) -> AgentMethod[object] | None:
    """Returns an awaitable function of the context and the task; None without a compressor."""
    if compressor is None:
        return None
    name = choose_compression(compressor)
    method = bind_method(compressor, name)

    async def compress_text(text: str, task: str) -> object:
        return await (method(text, task) if name == "compress" else method(text))

    return compress_text
