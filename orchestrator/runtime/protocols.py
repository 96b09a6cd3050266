"""What the orchestrator needs of others. Any object with these methods will do.

An async twin with the name's ``a`` prefix is used where there is one; a plain method runs in a
thread, off the event loop.
"""

from __future__ import annotations

from collections.abc import Awaitable, Mapping, Sequence
from typing import Protocol, runtime_checkable

from orchestrator.runtime.events import Event


class Planner(Protocol):
    """Breaks a task into steps."""

    def generate_plan(self, task: str, /) -> Sequence[str]:
        """Return the steps in order."""
        ...


class Executor(Protocol):
    """Carries out one step.

    With a method ``correct_step(step, previous_output, feedback, context="")`` it is told apart
    why its last output was refused; without one, that is put into the context.
    """

    def execute_step(self, step_description: str, /, context: str = "") -> str:
        """Return the step's result."""
        ...


class Monitor(Protocol):
    """Judges a result against its objective."""

    def evaluate(self, objective: str, result: str) -> Mapping[str, object]:
        """Return ``{"success": bool, "feedback": str}``."""
        ...


@runtime_checkable
class InvokableCompressor(Protocol):
    """Shortens the context; with a method ``compress(text, task)`` it is also told the task."""

    def invoke(self, text: str, /) -> str:
        """Return the shorter text."""
        ...


@runtime_checkable
class RunnableCompressor(Protocol):
    """The other documented form of a compressor."""

    def _run(self, text: str, /) -> str: ...


Compressor = InvokableCompressor | RunnableCompressor


class Hook(Protocol):
    """Is told what happens in a run. What it raises is logged and ends nothing."""

    def __call__(self, event: Event, /) -> Awaitable[None] | None:
        """Take one event; what can be awaited is."""
        ...
