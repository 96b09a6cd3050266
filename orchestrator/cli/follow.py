"""Follows a run to its end."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import aclosing

from agents.sync import run_loop
from orchestrator.cli.interruption import interruptible
from orchestrator.cli.progress import Show
from orchestrator.engine import LangGraphOrchestrator
from orchestrator.events import RunFinished
from orchestrator.judging import failed
from orchestrator.state import OrchestratorState, blank_state

_INTERRUPTED = "interrupted by the user"


def follow(orchestrator: LangGraphOrchestrator, task: str, show: Show) -> OrchestratorState:
    """Run a task and show its events; Ctrl-C ends it as cancelled.

    The event loop runs in the main thread, where signals arrive.
    """

    def cancel() -> None:
        orchestrator.cancel(reason=_INTERRUPTED)

    with interruptible(cancel) as interrupted:
        return run_loop(lambda: _follow(orchestrator, task, show, interrupted, cancel))


async def _follow(
    orchestrator: LangGraphOrchestrator,
    task: str,
    show: Show,
    interrupted: Callable[[], bool],
    cancel: Callable[[], None],
) -> OrchestratorState:
    state = blank_state(task, orchestrator.settings.max_retries)
    async with aclosing(orchestrator.astream(task)) as events:
        async for event in events:
            if interrupted():  # the signal may have come before there was a run to cancel
                cancel()
            show(event)
            if isinstance(event, RunFinished):
                state = event.state
    return state


def interrupted_before(task: str, max_retries: int) -> OrchestratorState:
    """The state of a run that was interrupted before it began."""
    return {**blank_state(task, max_retries), **failed("cancelled", _INTERRUPTED)}
