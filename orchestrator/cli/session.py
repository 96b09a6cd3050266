"""Runs an orchestrator on a console: shows its events, asks its questions and prints its final state."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias, cast

import typer
from rich.console import Console
from rich.text import Text

from agents.sync import run_loop
from orchestrator.cli.arguments.parameters import Display
from orchestrator.cli.ask import Answer, ask, is_terminal
from orchestrator.cli.process.interruption import stop_on_signal
from orchestrator.cli.process.statuses import FAILED, INTERRUPTED, WAITING
from orchestrator.cli.view.consoles import build_console
from orchestrator.cli.view.plain import state_to_plain
from orchestrator.cli.view.progress import Show, show_progress
from orchestrator.cli.view.question import draw_question, format_answer_command, format_resume_command
from orchestrator.cli.view.summary import format_summary
from orchestrator.cli.view.text import one_line, to_json
from orchestrator.engine import LangGraphOrchestrator
from orchestrator.persistence import Store
from orchestrator.runtime.events import (
    Event,
    RunFinished,
    RunInterrupted,
    RunPaused,
    RunResumed,
    RunStarted,
)
from orchestrator.state.graph_state import OrchestratorState
from orchestrator.state.records import Question

OpenStream: TypeAlias = Callable[[LangGraphOrchestrator], AsyncGenerator[Event, None]]


@dataclass(frozen=True, slots=True)
class Session:
    """One run on a console.

    Attributes:
        orchestrator: Executes the run.
        thread_id: Name of the run.
        console: Shows progress and questions.
        display: How the run is shown; with JSON, progress is lines, and nothing is asked.
        where: Name of the store, None without a store.
    """

    orchestrator: LangGraphOrchestrator
    thread_id: str
    console: Console
    display: Display
    where: str | None = None

    def run(self, open_stream: OpenStream) -> OrchestratorState:
        """Start, resume or fork the run, and ask its questions until it ends or waits."""
        state = self._follow(open_stream)
        answer = self._ask(state)
        if answer is None:
            return state
        return self.run(lambda orchestrator: orchestrator.astream_resumed(self.thread_id, answer))

    def _follow(self, open_stream: OpenStream) -> OrchestratorState:
        # FORCE_COLOR makes Rich take a file for a terminal; a dumb terminal cannot move the cursor.
        can_draw = self.console.file.isatty() and self.console.is_interactive
        is_live = can_draw and not self.display.json
        with show_progress(self.console, live=is_live, verbose=self.display.verbose) as show:
            return follow(self.orchestrator, open_stream, partial(self._show, show))

    def _show(self, show: Show, event: Event) -> None:
        # With the first event, because a fork can be refused before it.
        if self.where is not None and isinstance(event, RunStarted | RunResumed):
            self.console.print(Text(f"thread {one_line(self.thread_id)}, stored in {one_line(self.where)}"))
        show(event)

    def _ask(self, state: OrchestratorState) -> Answer | None:
        question = state["question"]
        if question is None or not question["accepts"] or self.display.json or not is_terminal():
            return None
        answer = ask(self.console, question)
        # With its id, an answer is refused if another process has answered the question meanwhile.
        return None if answer is None else {**answer, "question": question["id"]}


def follow(orchestrator: LangGraphOrchestrator, open_stream: OpenStream, show: Show) -> OrchestratorState:
    """Run to the end and show the events. Ctrl-C interrupts the run.

    The event loop runs in the main thread, because Python handles signals there.

    Args:
        orchestrator: Executes the run.
        open_stream: Starts, resumes or forks the run.
        show: Called with each event.
    """
    with stop_on_signal(orchestrator.interrupt) as is_stopped:
        return run_loop(
            lambda: _read_events(open_stream(orchestrator), show, is_stopped, orchestrator.interrupt)
        )


async def _read_events(
    stream: AsyncGenerator[Event, None],
    show: Show,
    is_stopped: Callable[[], bool],
    stop: Callable[[], None],
) -> OrchestratorState:
    state: OrchestratorState | None = None
    # Closed explicitly: an exception in `show` would otherwise leave the agents running.
    async with aclosing(stream) as events:
        async for event in events:
            if is_stopped():  # a signal before the first event found no run to stop
                stop()
            show(event)
            if isinstance(event, RunFinished | RunPaused | RunInterrupted):
                state = event.state
    return cast("OrchestratorState", state)


def print_and_exit(
    state: OrchestratorState,
    thread_id: str,
    store: Store | None,
    display: Display,
    tools: Sequence[str] = (),
) -> None:
    """Print the state that a command leaves behind, and exit.

    Args:
        state: The state.
        thread_id: Name of the run.
        store: The store of the run; None if it was not stored.
        display: How the state is printed.
        tools: The names of its tools, which the command that resumes it has to repeat.

    Raises:
        typer.Exit: With the status of the run, unless it succeeded.
    """
    if display.json:
        _print_json(state, None if store is None else thread_id, full=display.full)
    is_unfinished = state["status"] in ("planning", "executing")
    if is_unfinished and state["question"] is None:
        _print_interruption(thread_id, store, tools)
        raise typer.Exit(INTERRUPTED)
    if is_unfinished:
        _print_question(cast("Question", state["question"]), thread_id, store, tools, json=display.json)
        raise typer.Exit(WAITING)
    if not display.json:
        build_console().print(format_summary(state))
    if state["status"] != "success":
        raise typer.Exit(FAILED)


def _print_json(state: OrchestratorState, thread_id: str | None, *, full: bool) -> None:
    document = {**state_to_plain(state, full=full), "thread_id": thread_id}
    typer.echo(to_json(document).encode())  # bytes, because JSON is UTF-8 in every locale


def _print_question(
    question: Question, thread_id: str, store: Store | None, tools: Sequence[str], *, json: bool
) -> None:
    if not json and not is_terminal():  # on a terminal the session has shown the question
        build_console().print(draw_question(question))
    if store is not None:
        console = build_console(stderr=True) if json else build_console()
        command = format_answer_command(question, thread_id, store.where, tools)
        console.print(Text(command), soft_wrap=True)


def _print_interruption(thread_id: str, store: Store | None, tools: Sequence[str]) -> None:
    command = None if store is None else format_resume_command(thread_id, store.where, tools)
    hint = "nothing was stored" if command is None else f"continue with\n{command}"
    build_console(stderr=True).print(Text(f"interrupted; {hint}"), soft_wrap=True)
