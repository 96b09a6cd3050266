"""``orchestrator run``, ``resume`` and ``fork``: execute a run and follow it on a console.

A console shows the events of the run, asks its questions and prints its state.
"""

from __future__ import annotations

import getpass
import sys
from collections.abc import AsyncIterable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Annotated, Final, TypeAlias, cast

import typer
from rich.console import Console
from rich.text import Text

from agents.sync import run_loop
from evaluation import TaskCase, read_case_set
from orchestrator import events as run_events
from orchestrator.cli import options, process_exit
from orchestrator.cli.consoles import build_console, one_line, print_json, print_logs_on
from orchestrator.cli.run_drawings import (
    add_best_attempt,
    describe_event,
    draw_outcome,
    draw_question,
    draw_warnings,
    get_output,
)
from orchestrator.cli.run_options import OptionRuns, RunOptions, format_command, format_resume, open_store
from orchestrator.engine import LangGraphOrchestrator
from orchestrator.errors import ConfigurationError
from orchestrator.persistence import open_store as open_or_make_store
from orchestrator.runs.resume import find_rejudging
from orchestrator.service.executions import Execution, NewRun, open_in_thread
from orchestrator.service.run_service import check_unused
from orchestrator.settings import check_thread_id
from orchestrator.state.graph_state import ENDED, OrchestratorState
from orchestrator.state.records import Question

OF_A_PLAN: Final = (
    *("checks", "planning", "grounding", "supervise", "acting_tools"),
    *("max_retries", "retry_policy", "synthesis"),
)
"""The options that cannot change while a step is under way; only a new run has checks."""


def run(
    thread: options.NewThread,
    task: options.Task,
    chosen: RunOptions,
    *,
    db: options.Database = None,
    contract: options.File[Path | None] = None,
    json: options.Json = False,
) -> None:
    """Plan TASK, execute it step by step and judge every step.

    Exit status: 0 success, 1 failure, 2 bad input, 3 waiting for an answer, 130 interrupted by Ctrl-C.

    Args:
        contract: Check the output against a file that `checks --save` wrote, instead of the checks that are
            derived from the task. The judge decides besides, as with these.
    """
    check_thread_id(thread)
    chosen.check()
    if contract is not None and not chosen.checks:
        raise ConfigurationError("--contract and --no-checks contradict each other; give one of them")
    case = None if contract is None else _read_contract(contract, task)
    with open_or_make_store(db) as store:
        check_unused(store.history, thread)
        runs = OptionRuns(store, db, chosen, case=case)
        # The most characters of a request over HTTP are no bound of a command.
        execution = Execution.of_new(runs, NewRun.model_construct(task=task), thread)
        RunSession(runs, thread, json).run(execution)


def resume(
    chosen: Annotated[RunOptions, *OF_A_PLAN],
    thread: options.Thread,
    *,
    approve: bool = False,
    correct: Annotated[str | None, typer.Option(metavar="TEXT")] = None,
    deny: options.Reason[str | None] = None,
    halt: options.Reason[str | None] = None,
    db: options.Database = None,
    json: options.Json = False,
) -> None:
    """Resume the run THREAD after a crash, answer its question, or judge it again if it could not be judged.

    Options you leave out keep their values from the original run, except --tools, which runs code: give it
    again. Exit status as for `run`.

    Args:
        approve: Accept the output, or let the tool run.
        correct: Execute the step again with these instructions, or say what a tool call returned that ran
            before a crash or an error.
        deny: Refuse: a tool does not run, or a step ends the run, for REASON.
        halt: At a tool call: end the run as failed for this reason.
    """
    answer = read_answer(approve=approve, correct=correct, deny=deny, halt=halt)
    with open_store(db) as store:
        runs = OptionRuns(store, db, chosen, chosen)
        changed = bool(chosen.model_fields_set)
        execution = Execution.of_stored(runs, thread, answer, accept_changes=changed)
        RunSession(runs, thread, json).run(execution)


def fork(
    step: options.Count[int],
    new: options.NewThread,
    chosen: Annotated[RunOptions, "checks"],
    thread: options.Thread,
    *,
    db: options.Database = None,
    json: options.Json = False,
) -> None:
    """Copy the run THREAD up to a step to a new run, and continue there. THREAD itself does not change.

    Options you leave out keep their values from the original run, except --tools, which runs code: give it
    again. Exit status as for `run`.

    Args:
        step: The first step to execute again, counted from 1 as `show` prints it.
    """
    check_thread_id(new)
    with open_store(db) as store:
        runs = OptionRuns(store, db, chosen, chosen)
        # Users count steps from 1, as `show` does.
        RunSession(runs, new, json).run(Execution.of_fork(runs, thread, step - 1, new))


def _read_contract(path: Path, task: str) -> TaskCase:
    """Reads the case of a task from a file that ``checks --save`` wrote.

    Raises:
        ContractError: The file has no cases.
        ConfigurationError: It has no case for this task, or several.
    """
    matches = [case for case in read_case_set(path).cases if case.task.split() == task.split()]
    if len(matches) != 1:
        raise ConfigurationError(
            f"--contract {str(path)!r} has {len(matches) or 'no'} cases for this task; "
            "give a file with one, such as `orchestrator checks --save` writes"
        )
    return matches[0]


Answer: TypeAlias = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class RunSession:
    """One run on a console.

    Attributes:
        runs: Builds the orchestrators of the run.
        thread_id: Name of the run.
        json: Print JSON, and ask nothing.
        console: Gets everything but the result.
    """

    runs: OptionRuns
    thread_id: str
    json: bool
    console: Console = field(default_factory=lambda: build_console(stderr=True))

    def run(self, execution: Execution) -> None:
        """Executes the run, asks its questions, prints its state and exits.

        Raises:
            typer.Exit: With the status of the run, unless it succeeded.
        """
        with print_logs_on(self.console):
            state = self._follow(execution)
            while (answer := self._ask(state)) is not None:
                state = self._follow(Execution.of_stored(self.runs, self.thread_id, answer))
        self._print(state)
        if status := get_run_status(state):
            raise typer.Exit(status)

    def _follow(self, execution: Execution) -> OrchestratorState:
        # In the main thread, where Python handles signals.
        return run_loop(partial(self._execute, execution))

    async def _execute(self, execution: Execution) -> OrchestratorState:
        with self.console.status("loading the model ...") as status:
            # Until it is loaded, which may take long, a signal ends the process.
            async with open_in_thread(execution.open_orchestrator) as orchestrator:
                status.update("working")
                # Closed explicitly: an exception in a drawing would otherwise leave the agents running.
                async with aclosing(execution.open_stream(orchestrator)) as events:
                    return await self._print_events(events, orchestrator)

    async def _print_events(
        self, events: AsyncIterable[run_events.Event], orchestrator: LangGraphOrchestrator
    ) -> OrchestratorState:
        steps = 0
        event: run_events.Event | None = None
        with process_exit.stop_on_signal(orchestrator.interrupt) as is_stopped:
            async for event in events:
                if is_stopped():  # a signal before this event found no run to stop
                    orchestrator.interrupt()
                if isinstance(event, run_events.RunStarted | run_events.RunResumed):
                    where = f"thread {self.thread_id}, stored in {self.runs.store.where}"
                    self.console.print(Text(one_line(where, 5000)))
                if isinstance(event, run_events.RunResumed):
                    steps = len(event.state["plan"])
                elif isinstance(event, run_events.Planned | run_events.Replanned):
                    steps = len(event.plan)
                if (line := describe_event(event, steps)) is not None:
                    self.console.print(line)
        # The last event of every stream has the state.
        return cast("OrchestratorState", getattr(event, "state", None))

    def _ask(self, state: OrchestratorState) -> Answer | None:
        question = state["question"]
        if question is None or not question["accepts"] or self.json or not is_terminal():
            return None
        answer = ask_person(self.console, question)
        # With its id, an answer is refused if another process has answered the question meanwhile.
        return None if answer is None else {**answer, "question": question["id"]}

    def _print(self, state: OrchestratorState) -> None:
        """Prints the result or the JSON document on standard output, and all else on standard error."""
        status, question = get_run_status(state), state["question"]
        store, console = self.runs.store, self.console
        if self.json:
            print_json({**add_best_attempt(state), "thread_id": self.thread_id})
        elif status == process_exit.SUCCESS:
            build_console().print(Text(get_output(state)))
        elif status == process_exit.FAILED:
            console.print(draw_outcome(state))
        if not self.json and status != process_exit.FAILED:
            console.print(draw_warnings(state))
        if question is not None and not is_terminal():  # a terminal has shown it
            console.print(draw_question(question))
        if status in (process_exit.WAITING, process_exit.INTERRUPTED) or find_rejudging(state) is not None:
            command = format_resume(question, self.thread_id, store.where, self.runs.options.tools)
            console.print(Text(f"continue with\n{command}"), soft_wrap=True)
        elif not self.json:
            command = format_command("show", self.thread_id, store.where)
            console.print(Text(f"see every step: {command}"), soft_wrap=True)


def get_run_status(state: OrchestratorState) -> int:
    """Returns the exit status of the command that leaves a run in this state."""
    if state["status"] in ENDED:
        return process_exit.SUCCESS if state["status"] == "success" else process_exit.FAILED
    return process_exit.INTERRUPTED if state["question"] is None else process_exit.WAITING


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
        ConfigurationError: There are several.
    """
    options = {"approve": "" if approve else None, **texts}
    given = {word: text for word, text in options.items() if text is not None}
    if len(given) > 1:
        raise ConfigurationError(
            "--approve, --correct, --deny and --halt contradict each other; "
            "give one of them, or none after a crash"
        )
    return next((build_answer(word, text) for word, text in given.items()), None)


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
    is_result = question["kind"] == "tool"
    correction = "What is the result? " if is_result else "What should be done differently? "
    while not text:
        text = console.input(correction if word == "correct" else "Why? ").strip()
    return build_answer(word, text)


def _drop_typed_ahead() -> None:
    """Drops input typed before the question appeared, which could approve an output by accident."""
    if sys.platform != "win32" and sys.stdin.isatty():
        import termios

        termios.tcflush(sys.stdin, termios.TCIFLUSH)
