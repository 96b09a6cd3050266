"""An executor whose process ends in the middle of a step, for all that a run sees."""

import asyncio
from collections.abc import Callable

from orchestrator import LangGraphOrchestrator


class InterruptedExecutor:
    """Answers a step with its text; at a step with ``word`` in it, the run is interrupted."""

    def __init__(self, word: str = "") -> None:
        self.word = word
        self.reached = asyncio.Event()

    async def execute_step(self, step_description: str, context: str = "") -> str:
        if self.word not in step_description:
            return step_description
        self.reached.set()
        await asyncio.sleep(3600)
        raise AssertionError("nobody interrupted the run")


def interrupt_run(
    build: Callable[[InterruptedExecutor], LangGraphOrchestrator], task: str, thread: str, word: str = ""
) -> None:
    """Run a task until the step with ``word`` in it, and cancel the run there."""

    async def interrupt() -> None:
        executor = InterruptedExecutor(word)
        running = asyncio.ensure_future(build(executor).arun(task, thread))
        await executor.reached.wait()
        running.cancel()
        await asyncio.wait([running])

    asyncio.run(interrupt())
