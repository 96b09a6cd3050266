"""Runs an orchestrator on a console: shows its events, asks its questions and prints its final state."""

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
from orchestrator.cli.ask import Answer, ask, is_terminal
from orchestrator.cli.exits import FAILED, WAITING
from orchestrator.cli.interruption import cancel_on_signal
from orchestrator.cli.view.consoles import build_progress_console, build_result_console, can_draw
from orchestrator.cli.view.progress import Show, show_progress
from orchestrator.cli.view.question import draw_question, format_answer_command
from orchestrator.cli.view.summary import format_summary
from orchestrator.cli.view.text import one_line, to_json
from orchestrator.engine import LangGraphOrchestrator
from orchestrator.persistence import Store
from orchestrator.runtime.events import Event, RunFinished, RunPaused, RunResumed, RunStarted
from orchestrator.state.graph_state import OrchestratorState

OpenStream: TypeAlias = Callable[[], AsyncGenerator[Event, None]]


@dataclass(frozen=True, slots=True)
class Session:
    """One run on a console.

    Attributes:
        orchestrator: Executes the run.
        thread_id: Name of the run.
        console: Shows progress and questions.
        quiet: Print progress as lines, and ask nothing.
        where: Name of the store, None without a store.
    """

    orchestrator: LangGraphOrchestrator
    thread_id: str
    console: Console
    quiet: bool
    where: str | None = None

    def start(self, task: str) -> OrchestratorState:
        """Run a task until it ends or waits."""
        return self._run_new(partial(self.orchestrator.astream, task, self.thread_id))

    def fork(self, thread_id: str, step: int) -> OrchestratorState:
        """Continue a copy of another run from before a step until it ends or waits."""
        return self._run_new(partial(self.orchestrator.astream_forked, thread_id, step, self.thread_id))

    def resume(self, answer: Mapping[str, str] | None) -> OrchestratorState:
        """Resume the run, with an answer if there is one, until it ends or waits."""
        return self._run(partial(self.orchestrator.astream_resumed, self.thread_id, answer))

    def _run_new(self, open_stream: OpenStream) -> OrchestratorState:
        return self._run(partial(self._announce, open_stream))

    async def _announce(self, open_stream: OpenStream) -> AsyncGenerator[Event, None]:
        """Print the thread and the store with the first event, when a fork can no longer be refused."""
        async with aclosing(open_stream()) as events:
            async for event in events:
                if self.where is not None and isinstance(event, RunStarted | RunResumed):
                    text = f"thread {one_line(self.thread_id)}, stored in {one_line(self.where)}"
                    self.console.print(Text(text))
                yield event

    def _run(self, open_stream: OpenStream) -> OrchestratorState:
        state = self._follow(open_stream)
        while (answer := self._ask(state)) is not None:
            state = self._follow(partial(self.orchestrator.astream_resumed, self.thread_id, answer))
        return state

    def _follow(self, open_stream: OpenStream) -> OrchestratorState:
        is_live = not self.quiet and can_draw(self.console)
        with show_progress(self.console, live=is_live) as show:
            return follow(self.orchestrator, open_stream, show)

    def _ask(self, state: OrchestratorState) -> Answer | None:
        question = state["question"]
        if question is None or not question["accepts"] or self.quiet or not is_terminal():
            return None
        answer = ask(self.console, question)
        # With its id, an answer is refused if another process has answered the question meanwhile.
        return None if answer is None else {**answer, "question": question["id"]}


def follow(orchestrator: LangGraphOrchestrator, open_stream: OpenStream, show: Show) -> OrchestratorState:
    """Run to the end and show the events. Ctrl-C ends the run as cancelled.

    The event loop runs in the main thread, because Python handles signals there.

    Args:
        orchestrator: Executes the run.
        open_stream: Starts, resumes or forks the run.
        show: Called with each event.
    """

    def cancel() -> None:
        orchestrator.cancel(reason="interrupted by the user")

    with cancel_on_signal(cancel) as is_cancelled:
        return run_loop(lambda: _read_events(open_stream, show, is_cancelled, cancel))


async def _read_events(
    open_stream: OpenStream, show: Show, is_cancelled: Callable[[], bool], cancel: Callable[[], None]
) -> OrchestratorState:
    state: OrchestratorState | None = None
    # Closed explicitly: an exception in `show` would otherwise leave the agents running.
    async with aclosing(open_stream()) as events:
        async for event in events:
            if is_cancelled():  # a signal before the first event found no run to cancel
                cancel()
            show(event)
            if isinstance(event, RunFinished | RunPaused):
                state = event.state
    return cast("OrchestratorState", state)


def print_and_exit(state: OrchestratorState, thread_id: str, store: Store | None, *, json: bool) -> None:
    """Print the state that a command leaves behind, and exit.

    Raises:
        typer.Exit: With the status of the run, unless it succeeded.
    """
    question = state["question"] if state["status"] == "executing" else None
    if json:
        typer.echo(to_json(state).encode())  # bytes, because JSON is UTF-8 in every locale
    elif question is None:
        build_result_console().print(format_summary(state))
    elif not is_terminal():  # on a terminal the session has shown the question
        build_result_console().print(draw_question(question))
    if question is not None:
        if store is not None:
            console = build_progress_console() if json else build_result_console()
            console.print(Text(format_answer_command(question, thread_id, store.where)), soft_wrap=True)
        raise typer.Exit(WAITING)
    if state["status"] != "success":
        raise typer.Exit(FAILED)
