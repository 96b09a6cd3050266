"""What a command prints of the state that it leaves behind, and the exit status."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias, cast

import typer
from rich.console import Console
from rich.text import Text

from agents.sync import run_loop
from orchestrator.cli.ask import Answer, ask, can_ask
from orchestrator.cli.exits import FAILED, WAITING, unwritten_exits
from orchestrator.cli.interruption import interruptible, unless_interrupted
from orchestrator.cli.view.consoles import can_draw, progress_console, result_console
from orchestrator.cli.view.progress import Show, progress
from orchestrator.cli.view.question import how_to_answer, question_block
from orchestrator.cli.view.summary import summary
from orchestrator.cli.view.text import as_json, one_line
from orchestrator.engine import LangGraphOrchestrator
from orchestrator.judging.verdict import failed
from orchestrator.persistence import Store
from orchestrator.runtime.events import Event, RunFinished, RunPaused, RunResumed, RunStarted
from orchestrator.state.graph_state import OrchestratorState, Question, blank_state


def end(state: OrchestratorState, thread_id: str, store: Store | None, *, json: bool) -> None:
    """Print a state and exit.

    Raises:
        typer.Exit: With the status that says how the run ended, but for success.
    """
    question = state["question"] if state["status"] == "executing" else None
    with unwritten_exits():
        if json:
            typer.echo(as_json(state).encode())
        elif question is None:
            result_console().print(summary(state))
        elif not can_ask():  # or else it was put there
            result_console().print(question_block(question))
    if question is not None:
        _say_how(question, thread_id, store, json=json)
        raise typer.Exit(WAITING)
    if state["status"] != "success":
        raise typer.Exit(FAILED)


def _say_how(question: Question, thread_id: str, store: Store | None, *, json: bool) -> None:
    """On standard output with the question, on standard error beside a JSON document."""
    if store is None:
        return
    console = progress_console() if json else result_console()
    console.print(Text(how_to_answer(question, thread_id, store.where)), soft_wrap=True)


@dataclass(frozen=True, slots=True)
class Conversation:
    """Follows a run on a console.

    Attributes:
        orchestrator: Whose run it is.
        thread_id: Names it.
        console: Where its progress, and its questions, are shown.
        quiet: Neither draw nor ask.
        kept_in: The store of a run that is new, which is said as soon as it has begun.
    """

    orchestrator: LangGraphOrchestrator
    thread_id: str
    console: Console
    quiet: bool
    kept_in: str | None = None

    def begin(self, task: str) -> OrchestratorState:
        """Run a task."""
        return self._begun(partial(self.orchestrator.astream, task, self.thread_id))

    def branch_off(self, thread_id: str, step: int) -> OrchestratorState:
        """Go on from before a step of another run."""
        return self._begun(partial(self.orchestrator.astream_forked, thread_id, step, self.thread_id))

    def go_on(self, answer: Mapping[str, str] | None) -> OrchestratorState:
        """Go on with a run, with an answer where one is given."""
        return self._to_the_end(partial(self.orchestrator.astream_resumed, self.thread_id, answer))

    def _begun(self, begin: Begin) -> OrchestratorState:
        return self._to_the_end(partial(self._announced, begin))

    async def _announced(self, begin: Begin) -> AsyncGenerator[Event, None]:
        """The events; before the first, how to find the run again."""
        async with aclosing(begin()) as events:
            async for event in events:
                if self.kept_in is not None and isinstance(event, RunStarted | RunResumed):
                    where = f"thread {one_line(self.thread_id)}, kept in {one_line(self.kept_in)}"
                    self.console.print(Text(where))
                yield event

    def _to_the_end(self, begin: Begin) -> OrchestratorState:
        """The state in which the run ended, or waits where nobody here answers."""
        state = self._followed(begin)
        while (answer := self._answer(state)) is not None:
            state = self._followed(partial(self.orchestrator.astream_resumed, self.thread_id, answer))
        return state

    def _followed(self, begin: Begin) -> OrchestratorState:
        live = not self.quiet and can_draw(self.console)
        with progress(self.console, live=live) as show:
            return follow(self.orchestrator, begin, show)

    def _answer(self, state: OrchestratorState) -> Answer | None:
        question = state["question"]
        if question is None or not question["accepts"] or self.quiet or not can_ask():
            return None
        answer = unless_interrupted(lambda: ask(self.console, question))
        if answer is None:
            self.console.print()
            return None
        return {**answer, "question": question["id"]}


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
