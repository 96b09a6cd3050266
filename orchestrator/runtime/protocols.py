"""Protocols of the planner, executor, monitor and compressor. Any object with the methods works.

If an object also has an async method with the prefix ``a`` (``agenerate_plan``), that method is called. A
plain method runs in a thread, off the event loop.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol, runtime_checkable


class Planner(Protocol):
    """Breaks a task into steps."""

    def generate_plan(self, task: str, /) -> Sequence[str | Mapping[str, object]]:
        """Returns the steps in order: texts, or objects such as ``{"step": ..., "needs": [...]}``."""
        ...


class Executor(Protocol):
    """Carries out one step.

    A retry calls its method ``correct_step(step, previous_output, feedback, context="")`` if there is one. If
    not, the feedback is added to the context. If a method also takes an optional ``task``, it is given the
    task and the outline of the plan; if not, they stand before the context.

    If a method takes an optional ``sampling`` (``agents.Sampling``), a retry gives it the temperature, the
    seed and the model of the call; if not, the executor keeps its own.

    A method ``synthesize(task, results)`` writes the final answer from the results of several steps.
    """

    def execute_step(self, step_description: str, /, context: str = "") -> str:
        """Returns the result of the step."""
        ...


class Monitor(Protocol):
    """Judges a result against its objective.

    If the method also takes an optional ``task``, it is given the task and the outline of the plan; with an
    optional ``evidence``, the outcomes of the checks and the calls of tools with their answers.
    """

    def evaluate(self, objective: str, result: str) -> Mapping[str, object]:
        """Returns ``{"success": bool, "feedback": str}``."""
        ...


@runtime_checkable
class InvokableCompressor(Protocol):
    """Shortens the context. A method ``compress(text, task)`` is called instead if there is one."""

    def invoke(self, text: str, /) -> str:
        """Returns the shorter text."""
        ...


@runtime_checkable
class RunnableCompressor(Protocol):
    """A compressor with ``_run`` in place of ``invoke``, as LangChain tools have it."""

    def _run(self, text: str, /) -> str: ...


Compressor = InvokableCompressor | RunnableCompressor
