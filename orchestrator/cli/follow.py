"""Follows a run to its end, or to a question."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import TypeAlias, cast

from agents.sync import run_loop
from orchestrator.cli.interruption import interruptible
from orchestrator.cli.view.progress import Show
from orchestrator.engine import LangGraphOrchestrator
from orchestrator.judging.verdict import failed
from orchestrator.runtime.events import Event, RunFinished, RunPaused
from orchestrator.state.graph_state import OrchestratorState, blank_state

Begin: TypeAlias = Callable[[], AsyncGenerator[Event, None]]

_INTERRUPTED = "interrupted by the user"


def follow(orchestrator: LangGraphOrchestrator, begin: Begin, show: Show) -> OrchestratorState:
    """Run, or go on, and show the events; Ctrl-C ends the run as cancelled.

    The event loop runs in the main thread, where signals arrive.

    Args:
        orchestrator: Whose run it is.
        begin: Begins it, or goes on with it: ``astream``, ``astream_resumed`` or ``astream_forked``.
        show: Is given each event.
    """

    def cancel() -> None:
        orchestrator.cancel(reason=_INTERRUPTED)

    with interruptible(cancel) as interrupted:
        return run_loop(lambda: _follow(begin, show, interrupted, cancel))


async def _follow(
    begin: Begin, show: Show, interrupted: Callable[[], bool], cancel: Callable[[], None]
) -> OrchestratorState:
    state: OrchestratorState | None = None
    async with aclosing(begin()) as events:
        async for event in events:
            if interrupted():  # the signal may have come before there was a run to cancel
                cancel()
            show(event)
            if isinstance(event, RunFinished | RunPaused):
                state = event.state
    return cast("OrchestratorState", state)


def interrupted_before(task: str, max_retries: int) -> OrchestratorState:
    """The state of a run that was interrupted before it began."""
    return {**blank_state(task, max_retries), **failed("cancelled", _INTERRUPTED)}
