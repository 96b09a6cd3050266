"""Runs that are cut off in the middle of a step, as if their process had ended there."""

import asyncio
from collections.abc import Awaitable, Callable

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


async def cut_off(run: Awaitable[object], reached: Awaitable[object]) -> None:
    """Start a run, and cancel it as soon as it has reached its place."""
    running = asyncio.ensure_future(run)
    await asyncio.wait_for(reached, 30)
    running.cancel()
    await asyncio.wait([running])


def interrupt_run(
    build: Callable[[InterruptedExecutor], LangGraphOrchestrator], task: str, thread: str, word: str = ""
) -> None:
    """Run a task until the step with ``word`` in it, and cancel the run there."""

    async def interrupt() -> None:
        executor = InterruptedExecutor(word)
        await cut_off(build(executor).arun(task, thread), executor.reached.wait())

    asyncio.run(interrupt())
