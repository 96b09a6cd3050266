"""Runs, resumes and forks: opens the store, runs to the end and exits."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Final

from langchain_core.tools import BaseTool

from evaluation import TaskCase
from orchestrator.cli.arguments.options import RunOptions, TypedOptions
from orchestrator.cli.arguments.parameters import Answers, Display
from orchestrator.cli.arguments.tasks import read_task
from orchestrator.cli.arguments.threads import find_thread
from orchestrator.cli.arguments.tools import import_tools
from orchestrator.cli.ask import read_answer
from orchestrator.cli.building import build_orchestrator, build_settings
from orchestrator.cli.checks import read_contract
from orchestrator.cli.process.exits import report_bad_input
from orchestrator.cli.process.interruption import explain_ctrl_c
from orchestrator.cli.process.opening import announce
from orchestrator.cli.session import OpenStream, Session, print_and_exit
from orchestrator.cli.store import (
    changed_options,
    open_store,
    parse_options,
    refuse_ended_run,
    refuse_used_thread,
    restore_options,
)
from orchestrator.cli.view.consoles import build_console, print_logs_on
from orchestrator.cli.view.question import (
    describe_python_fork,
    describe_python_resume,
    format_resume_command,
)
from orchestrator.errors import ConfigurationError
from orchestrator.persistence import Store
from orchestrator.settings import check_task, check_thread_id
from orchestrator.state.graph_state import OrchestratorState

_NOTHING_STORED: Final = (
    "interrupted before the run began, so that nothing was stored; give the same command again"
)


def run_task(
    task: str | None,
    typed: TypedOptions,
    *,
    task_file: str | None,
    thread: str,
    db: str | None,
    no_db: bool,
    contract: str | None,
    display: Display,
) -> None:
    """Run a task, print its final state and exit.

    Args:
        task: What to do; "-" is standard input.
        typed: Values of fields of ``RunOptions``.
        task_file: Path of a file with the task.
        thread: Name of the run.
        db: Path or URL of the store; None for the user's file.
        no_db: Do not store the run.
        contract: Path of a file with the contract of the task; None to derive it.
        display: How the run is shown.

    Raises:
        typer.Exit: With the exit status, unless the run succeeded.
    """
    with report_bad_input():
        text = check_task(read_task(task, task_file))
        check_thread_id(thread)
        options = parse_options(typed)
        build_settings(options)  # reports bad values before the store is created
        tools = import_tools(options.tools)
        case = _read_contract(contract, text, options)
        with _open_new_store(db, options, no_db=no_db) as store:
            if store is not None:
                refuse_used_thread(store, thread)
            state = _execute(
                options,
                store,
                thread,
                lambda orchestrator: orchestrator.astream(text, thread),
                tools=tools,
                case=case,
                display=display,
                on_early_ctrl_c=_NOTHING_STORED,
            )
    print_and_exit(state, thread, store, display, options.tools)


def resume_run(
    thread: str | None,
    typed: TypedOptions,
    answers: Answers,
    *,
    db: str | None,
    display: Display,
) -> None:
    """Resume a run, print its final state and exit.

    Args:
        thread: Name of the run, or the start of it; None for the latest one that can be resumed.
        typed: Fields of ``RunOptions`` to change.
        answers: The options with an answer.
        db: Path or URL of the store; None for the user's file.
        display: How the run is shown.

    Raises:
        typer.Exit: With the exit status, unless the run succeeded.
    """
    with report_bad_input(), open_store(db) as store:
        answer = read_answer(answers)
        name = find_thread(store, thread, resumable=True)
        refuse_ended_run(store, name)
        options = restore_options(store, name, typed, in_python=_describe_resume(store, name))
        state = _execute(
            options,
            store,
            name,
            lambda orchestrator: orchestrator.astream_resumed(name, answer),
            tools=import_tools(options.tools),
            display=display,
            on_early_ctrl_c=_explain_resume(store, name, options),
        )
    print_and_exit(state, name, store, display, options.tools)


def fork_run(
    thread: str | None,
    step: int,
    typed: TypedOptions,
    *,
    new: str,
    db: str | None,
    display: Display,
) -> None:
    """Fork a run, print the final state of the new run and exit.

    Args:
        thread: Name of the run, or the start of it; None for the latest one.
        step: The first step to execute again, from 1.
        typed: Fields of ``RunOptions`` to change.
        new: Name of the new run.
        db: Path or URL of the store of both runs; None for the user's file.
        display: How the run is shown.

    Raises:
        typer.Exit: With the exit status, unless the run succeeded.
    """
    with report_bad_input():
        check_thread_id(new)
        with open_store(db) as store:
            name = find_thread(store, thread)
            index = step - 1  # users count steps from 1, as `show` does
            in_python = describe_python_fork(name, index)
            options = restore_options(store, name, typed, in_python=in_python)
            state = _execute(
                options,
                store,
                new,
                lambda orchestrator: orchestrator.astream_forked(name, index, new),
                tools=import_tools(options.tools),
                display=display,
                on_early_ctrl_c=_NOTHING_STORED,
            )
    print_and_exit(state, new, store, display, options.tools)


@contextmanager
def _open_new_store(path: str | None, options: RunOptions, *, no_db: bool) -> Iterator[Store | None]:
    if no_db and path is not None:
        raise ConfigurationError("--db and --no-db contradict each other; give one of them")
    asks = "--supervise human" if options.supervise == "human" else "--approve-tools"
    if no_db and (options.supervise == "human" or options.approve_tools):
        raise ConfigurationError(f"--no-db cannot store a question of {asks}; leave one of them out")
    with nullcontext() if no_db else open_store(path, changed_options(options)) as store:
        yield store


def _execute(
    options: RunOptions,
    store: Store | None,
    thread_id: str,
    open_stream: OpenStream,
    *,
    tools: list[BaseTool],
    display: Display,
    on_early_ctrl_c: str,
    case: TaskCase | None = None,
) -> OrchestratorState:
    console = build_console(stderr=True)
    with print_logs_on(console):
        with announce(f"loading the model {options.model} ..."), explain_ctrl_c(on_early_ctrl_c):
            orchestrator = build_orchestrator(options, store, tools=tools, case=case)
        where = None if store is None else store.where
        return Session(orchestrator, thread_id, console, display, where).run(open_stream)


def _explain_resume(store: Store, thread_id: str, options: RunOptions) -> str:
    return f"interrupted; continue with\n{format_resume_command(thread_id, store.where, options.tools)}"


def _describe_resume(store: Store, thread_id: str) -> str:
    run = store.history.find(thread_id)
    return describe_python_resume(None if run is None else run.question, thread_id)


def _read_contract(path: str | None, task: str, options: RunOptions) -> TaskCase | None:
    if path is not None and not options.checks:
        raise ConfigurationError("--contract and --no-checks contradict each other; give one of them")
    return None if path is None else read_contract(path, task)
