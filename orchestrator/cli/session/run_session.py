"""Builds the orchestrator of a command and runs it on a console: shows events, asks questions, prints."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, Final, TypeAlias, cast

import typer
from langchain_core.tools import BaseTool
from rich.console import Console
from rich.text import Text

from agents.loop.acting_tools import ActingTool, ActingTools
from agents.sync import run_loop
from evaluation import TaskCase
from orchestrator.cli.process_exit import FAILED, INTERRUPTED, SUCCESS, WAITING, stop_on_signal
from orchestrator.cli.run_options import APPROVE, ROLES, RunOptions
from orchestrator.cli.session.task_files import import_tools
from orchestrator.cli.view import person
from orchestrator.cli.view.consoles import build_console, one_line, print_json, print_logs_on
from orchestrator.cli.view.stored_runs import RunProgress, draw_outcome, get_output, output_first
from orchestrator.engine import LangGraphOrchestrator
from orchestrator.options import OrchestratorOptions
from orchestrator.persistence import Store
from orchestrator.planning.judge_again import find_rejudging
from orchestrator.retry.policy import RetryPolicy, merge_max_retries
from orchestrator.runtime.budget import Budget
from orchestrator.runtime.events import Event, RunFinished, RunInterrupted, RunPaused, RunResumed, RunStarted
from orchestrator.state.graph_state import OrchestratorState
from orchestrator.task_contracts.contract_options import RuleWriter
from orchestrator.telemetry.otlp_export import build_exporting_hooks

_SAME: Final = {
    *(RunOptions.model_fields.keys() & OrchestratorOptions.__annotations__.keys()),
    *(f"{role}_model" for role in ROLES),
} - {"acting_tools", "retry_policy", "checks"}
"""The options that the orchestrator has under the same names."""


def build_orchestrator(
    options: RunOptions, store: Store | None, *, tools: list[BaseTool], case: TaskCase | None = None
) -> LangGraphOrchestrator:
    """Loads the models and builds the orchestrator of a run.

    Args:
        options: The options of the run.
        store: Keeps the run; None to keep it nowhere.
        tools: Tools of the executor.
        case: The contract of the task; None to derive it.

    Raises:
        ConfigurationError: An option is not accepted.
        ModelSpecError: A specification names no model.
        ModelSetupError: A model cannot be loaded; the message says what to do.
    """
    same: dict[str, Any] = options.model_dump(include=_SAME)
    return LangGraphOrchestrator.from_model(
        options.model,
        **same,
        tools=tools,
        contract=(case or "from_task") if options.checks else None,
        contract_writer=RuleWriter(options.without_checks) if options.without_checks else None,
        checkpointer=store,
        hooks=build_exporting_hooks(os.environ),
        retry_policy=read_policy(options),
        budget=Budget(
            max_seconds=options.max_seconds,
            max_total_tokens=options.max_tokens,
            max_model_calls=options.max_calls,
        ),
        supervision=options.supervise,
        acting_tools=read_tool_words(options.acting_tools, tools),
    )


def read_tool_words(words: Sequence[str], tools: Sequence[BaseTool]) -> dict[str, ActingTool] | None:
    """Reads the words ``NAME``, ``NAME:approve`` and ``all:approve``; None if there are none."""
    approved, stated = ActingTool(approve=True), dict[str, ActingTool]()
    for word in words:
        name = word.removesuffix(APPROVE)
        if word == f"all{APPROVE}":
            known = ActingTools(metadata={tool.name: tool.metadata for tool in tools})
            names = [tool.name for tool in tools if known.classify(tool.name) != "reading"]
            stated = {**dict.fromkeys(names, approved), **stated}
        else:
            stated[name] = approved if word.endswith(APPROVE) else ActingTool()
    return stated or None


def read_policy(options: RunOptions) -> RetryPolicy:
    """Returns the retry policy of a run.

    Raises:
        ConfigurationError: The file has no retry policy, or contradicts the number of retries.
    """
    policy = None if options.retry_policy is None else RetryPolicy.from_yaml(options.retry_policy)
    return merge_max_retries(policy, options.max_retries)


OpenStream: TypeAlias = Callable[[LangGraphOrchestrator], AsyncGenerator[Event, None]]
Show: TypeAlias = Callable[[Event], None]


@dataclass(frozen=True, slots=True)
class RunSession:
    """One run on a console.

    Attributes:
        options: The options of the run.
        store: Keeps the run; None to keep it nowhere.
        thread_id: Name of the run.
        json: Print JSON, and ask nothing.
        verbose: Show each output, and its checks.
    """

    options: RunOptions
    store: Store | None
    thread_id: str
    json: bool
    verbose: bool

    def run(self, open_stream: OpenStream, case: TaskCase | None = None) -> None:
        """Starts, resumes or forks the run, asks its questions, prints its state and exits.

        Args:
            open_stream: Starts the stream of its events.
            case: The contract of the task; None to derive it.

        Raises:
            typer.Exit: With the status of the run, unless it succeeded.
        """
        tools, console = import_tools(self.options.tools), build_console(stderr=True)
        with print_logs_on(console):
            with console.status(Text(f"loading the model {one_line(self.options.model)} ...")):
                orchestrator = build_orchestrator(self.options, self.store, tools=tools, case=case)
            state, answer = self._follow(orchestrator, open_stream, console)
            while answer is not None:
                state, answer = self._follow(orchestrator, self._resume_with(answer), console)
        self._print(state, console)
        if status := get_run_status(state):
            raise typer.Exit(status)

    def _follow(
        self, orchestrator: LangGraphOrchestrator, open_stream: OpenStream, console: Console
    ) -> tuple[OrchestratorState, person.Answer | None]:
        progress = RunProgress(console, verbose=self.verbose)

        def show(event: Event) -> None:
            # With the first event, because a fork can be refused before it.
            if self.store is not None and isinstance(event, RunStarted | RunResumed):
                where = f"thread {one_line(self.thread_id)}, stored in {one_line(self.store.where)}"
                console.print(Text(where))
            progress.show(event)

        stop = orchestrator.interrupt
        with console.status("working"), stop_on_signal(stop) as is_stopped:
            # In the main thread, where Python handles signals.
            state = run_loop(lambda: _read_events(open_stream(orchestrator), show, is_stopped, stop))
        return state, self._ask(state, console)

    def _resume_with(self, answer: person.Answer) -> OpenStream:
        return lambda orchestrator: orchestrator.astream_resumed(self.thread_id, answer)

    def _ask(self, state: OrchestratorState, console: Console) -> person.Answer | None:
        question = state["question"]
        if question is None or not question["accepts"] or self.json or not person.is_terminal():
            return None
        answer = person.ask(console, question)
        # With its id, an answer is refused if another process has answered the question meanwhile.
        return None if answer is None else {**answer, "question": question["id"]}

    def _print(self, state: OrchestratorState, console: Console) -> None:
        """Prints the result or the JSON document on standard output, and all else on standard error."""
        status, question = get_run_status(state), state["question"]
        if self.json:
            thread_id = None if self.store is None else self.thread_id
            print_json({**output_first(state), "thread_id": thread_id})
        elif status == SUCCESS:
            build_console().print(Text(get_output(state)))
        elif status == FAILED:
            console.print(draw_outcome(state))
        if status == WAITING and question is not None and not person.is_terminal():  # a terminal has shown it
            console.print(person.draw_question(question))
        if self.store is None:
            return
        if status in (WAITING, INTERRUPTED) or find_rejudging(state) is not None:
            command = person.format_resume(question, self.thread_id, self.store.where, self.options.tools)
            console.print(Text(f"continue with\n{command}"), soft_wrap=True)
        elif not self.json:
            command = person.format_command("show", self.thread_id, self.store.where)
            console.print(Text(f"see every step: {command}"), soft_wrap=True)


def get_run_status(state: OrchestratorState) -> int:
    """Returns the exit status of the command that leaves a run in this state."""
    if state["status"] in ("success", "failed"):
        return SUCCESS if state["status"] == "success" else FAILED
    return INTERRUPTED if state["question"] is None else WAITING


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
