"""Fake executors."""

import asyncio
import threading
from dataclasses import dataclass, field

from tests.fakes.answers import Answers


@dataclass(frozen=True, slots=True)
class ExecutorCall:
    """A call of an executor. Only correct_step has ``feedback`` and ``previous_output``."""

    step: str
    context: str
    previous_output: str | None = None
    feedback: str | None = None
    task: str = field(default="", compare=False)


def done(step: str, context: str = "") -> str:
    return f"{step} done"


class FakeExecutor:
    """A plain executor without ``correct_step``.

    Attributes:
        calls: All calls in order.
    """

    def __init__(self, *answers):
        self.calls: list[ExecutorCall] = []
        self._answers = Answers(answers, done)

    def execute_step(self, step_description, context="", task=""):
        self.calls.append(ExecutorCall(step_description, context, task=task))
        return self._answers.next(step_description, context)


class PlainExecutor(FakeExecutor):
    def execute_step(self, step_description, context=""):
        return super().execute_step(step_description, context)


class CorrectingExecutor(FakeExecutor):
    def correct_step(self, step_description, previous_output, feedback, context="", task=""):
        self.calls.append(ExecutorCall(step_description, context, previous_output, feedback, task))
        return self._answers.next(step_description, context)


class SynthesizingExecutor(FakeExecutor):
    """An executor that writes the final answer.

    Args:
        answers: Results of the steps.
        written: Final answers in order.

    Attributes:
        requests: Task and results of each call of ``synthesize``.
    """

    def __init__(self, *answers, written=()):
        super().__init__(*answers)
        self.requests: list[tuple[str, str]] = []
        self._written = Answers(tuple(written), lambda task, results: f"{task} answered")

    def synthesize(self, task, results):
        self.requests.append((task, results))
        return self._written.next(task, results)


class AsyncFakeExecutor(FakeExecutor):
    async def execute_step(self, step_description, context="", task=""):
        await asyncio.sleep(0)
        return super().execute_step(step_description, context, task)


class TwinExecutor(FakeExecutor):
    """An executor with both methods, of which ``aexecute_step`` has to be called."""

    def execute_step(self, step_description, context="", task=""):
        raise AssertionError("aexecute_step has to be called")

    async def aexecute_step(self, step_description, context="", task=""):
        await asyncio.sleep(0)
        return super().execute_step(step_description, context, task)


class ModelExecutor(FakeExecutor):
    """A plain executor that calls a LangChain model."""

    def __init__(self, llm):
        super().__init__()
        self.llm = llm

    def execute_step(self, step_description, context="", task=""):
        self.calls.append(ExecutorCall(step_description, context, task=task))
        return self.llm.invoke(step_description).text


class AsyncModelExecutor(ModelExecutor):
    async def execute_step(self, step_description, context=""):
        self.calls.append(ExecutorCall(step_description, context))
        return (await self.llm.ainvoke(step_description)).text


class WaitingExecutor:
    """An executor that waits until it is cancelled.

    Attributes:
        started: Set when a step starts.
        stopped: Set when the step is cancelled.
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
