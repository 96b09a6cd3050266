"""Fake executors."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import dataclass

from tests.fakes.answers import Answers


@dataclass(frozen=True, slots=True)
class ExecutorCall:
    """How the executor was called; ``feedback`` and ``previous_output`` only through correct_step."""

    step: str
    context: str
    previous_output: str | None = None
    feedback: str | None = None


def done(step: str, context: str = "") -> str:
    """The answer of an executor that is told none."""
    return f"{step} done"


class FakeExecutor:
    """A plain executor without a method of its own for corrections.

    Attributes:
        calls: How it was called, in order.
    """

    def __init__(self, *answers):
        self.calls: list[ExecutorCall] = []
        self._answers = Answers(answers, done)

    def execute_step(self, step_description, context=""):
        self.calls.append(ExecutorCall(step_description, context))
        return self._answers.next(step_description, context)


class CorrectingExecutor(FakeExecutor):
    """An executor that is told apart why its output was refused."""

    def correct_step(self, step_description, previous_output, feedback, context=""):
        self.calls.append(ExecutorCall(step_description, context, previous_output, feedback))
        return self._answers.next(step_description, context)


class AsyncFakeExecutor(FakeExecutor):
    """An executor with a coroutine method under the plain name."""

    async def execute_step(self, step_description, context=""):
        await asyncio.sleep(0)
        return super().execute_step(step_description, context)


class TwinExecutor(FakeExecutor):
    """An executor with an asynchronous twin, which is the one to be used."""

    def execute_step(self, step_description, context=""):
        raise AssertionError("the asynchronous twin is the one to be used")

    async def aexecute_step(self, step_description, context=""):
        await asyncio.sleep(0)
        return super().execute_step(step_description, context)


class ModelExecutor(FakeExecutor):
    """A plain executor that asks a LangChain model, a number of times a step."""

    def __init__(self, llm, calls_per_step=1):
        super().__init__()
        self.llm = llm
        self.calls_per_step = calls_per_step

    def execute_step(self, step_description, context=""):
        self.calls.append(ExecutorCall(step_description, context))
        replies = [self.llm.invoke(step_description).text for _ in range(self.calls_per_step)]
        return replies[-1]


class AsyncModelExecutor(ModelExecutor):
    """The same with a coroutine method."""

    async def execute_step(self, step_description, context=""):
        self.calls.append(ExecutorCall(step_description, context))
        replies = [(await self.llm.ainvoke(step_description)).text for _ in range(self.calls_per_step)]
        return replies[-1]


class WaitingExecutor:
    """A coroutine executor that never ends by itself.

    Attributes:
        started: Set once a step is under way.
        stopped: Set once it was cancelled.
    """

    def __init__(self):
        self.started = threading.Event()
        self.stopped = threading.Event()

    async def execute_step(self, step_description, context=""):
        self.started.set()
        try:
            await asyncio.sleep(3600)
        finally:
            self.stopped.set()
        return "never"


class BlockingExecutor:
    """A plain executor that blocks its thread until it is released, or for ``seconds``.

    Attributes:
        started: Set once a step is under way.
        release: Set it to let the step end.
    """

    def __init__(self, seconds: float = 12.0):
        self.started = threading.Event()
        self.release = threading.Event()
        self._seconds = seconds

    def execute_step(self, step_description, context=""):
        self.started.set()
        self.release.wait(self._seconds)
        return f"{step_description} done"
