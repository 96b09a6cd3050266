"""Builds the orchestrator of a command and runs it on a console: shows events, asks questions, prints."""

from __future__ import annotations

import getpass
import os
import sys
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, Final, TypeAlias, cast

import typer
from langchain_core.tools import BaseTool
from rich.console import Console
from rich.text import Text

from agents.loop.acting_tools import ActingTool, ActingTools, describe_tool
from agents.sync import run_loop
from evaluation import TaskCase
from orchestrator.cli import process_exit
from orchestrator.cli.consoles import build_console, one_line, print_json, print_logs_on
from orchestrator.cli.run_drawings import RunProgress, draw_outcome, draw_question, get_output, output_first
from orchestrator.cli.run_options import APPROVE, ROLES, RunOptions
from orchestrator.cli.stored_runs import format_command, format_resume
from orchestrator.cli.task_files import import_tools
from orchestrator.engine import LangGraphOrchestrator
from orchestrator.errors import ConfigurationError
from orchestrator.options import OrchestratorOptions
from orchestrator.persistence import Store
from orchestrator.planning.parallel import find_rejudging
from orchestrator.retry.policy import RetryPolicy, merge_max_retries
from orchestrator.runtime import events as run_events
from orchestrator.runtime.settings_model import Budget
from orchestrator.state.graph_state import ENDED, OrchestratorState
from orchestrator.state.records import Question
from orchestrator.task_contracts.source import RuleWriter
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
            names = [tool.name for tool in tools if describe_tool(known, tool.name).kind != "reading"]
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


Answer: TypeAlias = Mapping[str, str]
OpenStream: TypeAlias = Callable[[LangGraphOrchestrator], AsyncGenerator[run_events.Event, None]]
Show: TypeAlias = Callable[[run_events.Event], None]


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
    ) -> tuple[OrchestratorState, Answer | None]:
        progress = RunProgress(console, verbose=self.verbose)

        def show(event: run_events.Event) -> None:
            # With the first event, because a fork can be refused before it.
            if self.store is not None and isinstance(event, run_events.RunStarted | run_events.RunResumed):
                where = f"thread {one_line(self.thread_id)}, stored in {one_line(self.store.where)}"
                console.print(Text(where))
            progress.show(event)

        stop = orchestrator.interrupt
        with console.status("working"), process_exit.stop_on_signal(stop) as is_stopped:
            # In the main thread, where Python handles signals.
            state = run_loop(lambda: _read_events(open_stream(orchestrator), show, is_stopped, stop))
        return state, self._ask(state, console)

    def _resume_with(self, answer: Answer) -> OpenStream:
        return lambda orchestrator: orchestrator.astream_resumed(self.thread_id, answer)

    def _ask(self, state: OrchestratorState, console: Console) -> Answer | None:
        question = state["question"]
        if question is None or not question["accepts"] or self.json or not is_terminal():
            return None
        answer = ask_person(console, question)
        # With its id, an answer is refused if another process has answered the question meanwhile.
        return None if answer is None else {**answer, "question": question["id"]}

    def _print(self, state: OrchestratorState, console: Console) -> None:
        """Prints the result or the JSON document on standard output, and all else on standard error."""
        status, question = get_run_status(state), state["question"]
        if self.json:
            thread_id = None if self.store is None else self.thread_id
            print_json({**output_first(state), "thread_id": thread_id})
        elif status == process_exit.SUCCESS:
            build_console().print(Text(get_output(state)))
        elif status == process_exit.FAILED:
            console.print(draw_outcome(state))
        if (
            status == process_exit.WAITING and question is not None and not is_terminal()
        ):  # a terminal has shown it
            console.print(draw_question(question))
        if self.store is None:
            return
        if status in (process_exit.WAITING, process_exit.INTERRUPTED) or find_rejudging(state) is not None:
            command = format_resume(question, self.thread_id, self.store.where, self.options.tools)
            console.print(Text(f"continue with\n{command}"), soft_wrap=True)
        elif not self.json:
            command = format_command("show", self.thread_id, self.store.where)
            console.print(Text(f"see every step: {command}"), soft_wrap=True)


def get_run_status(state: OrchestratorState) -> int:
    """Returns the exit status of the command that leaves a run in this state."""
    if state["status"] in ENDED:
        return process_exit.SUCCESS if state["status"] == "success" else process_exit.FAILED
    return process_exit.INTERRUPTED if state["question"] is None else process_exit.WAITING


async def _read_events(
    stream: AsyncGenerator[run_events.Event, None],
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
            if isinstance(event, run_events.RunFinished | run_events.RunPaused | run_events.RunInterrupted):
                state = event.state
    return cast("OrchestratorState", state)


def is_terminal() -> bool:
    """Returns whether a person can read and type: standard input and standard error are a terminal."""
    # Questions go to standard error, because standard output may be redirected to a file.
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stderr))


def ask_person(console: Console, question: Question) -> Answer | None:
    """Asks until there is an answer; returns None if the input ends or Ctrl-C comes first."""
    _drop_typed_ahead()
    console.print(draw_question(question))
    try:
        with process_exit.raise_on_ctrl_c():
            return _read_typed_answer(console, question)
    except (KeyboardInterrupt, EOFError):
        console.print()
        return None


def build_answer(word: str, text: str = "") -> Answer:
    """Builds an answer with the name of the user."""
    try:
        user = getpass.getuser()
    except (KeyError, ImportError, OSError):  # a user without a name, as in a container
        user = "a person"
    answer = {"answer": word, "answered_by": user}
    return {**answer, "text": text} if text else answer


def read_answer(*, approve: bool, **texts: str | None) -> Answer | None:
    """Builds the answer to a question from the options; None without one.

    Args:
        approve: Whether ``--approve`` was given.
        texts: The texts of ``--correct``, ``--deny`` and ``--halt``.

    Raises:
        ConfigurationError: There are several, or a text is blank.
    """
    words = {name: text for name, text in texts.items() if text is not None}
    if approve + len(words) > 1:
        raise ConfigurationError(
            "--approve, --correct, --deny and --halt contradict each other; "
            "give one of them, or none after a crash"
        )
    for name, text in words.items():
        if not text.strip():
            raise ConfigurationError(f"--{name} is {text!r}; give a text that says what to do, or why")
        return build_answer(name, text)
    return build_answer("approve") if approve else None


def _read_typed_answer(console: Console, question: Question) -> Answer:
    """Reads an answer.

    Raises:
        EOFError: The input ends before.
    """
    words = {word[0]: word for word in question["accepts"]}
    choices = ", ".join(f"{letter} = {word}" for letter, word in words.items())
    typed = ""
    while typed not in (*words, *words.values()):
        typed = console.input(f"{choices} (Ctrl-C: answer later): ", markup=False).strip().lower()
    word, text = words.get(typed, typed), ""
    if word == "approve":
        return build_answer(word)
    is_result = word == "correct" and question["kind"] == "tool"
    correction = "What is the result of the call? " if is_result else "What should be done differently? "
    while not text:
        text = console.input(correction if word == "correct" else "Why? ").strip()
    return build_answer(word, text)


def _drop_typed_ahead() -> None:
    """Drops input typed before the question appeared, which could approve an output by accident."""
    if sys.platform != "win32" and sys.stdin.isatty():
        import termios

        termios.tcflush(sys.stdin, termios.TCIFLUSH)
