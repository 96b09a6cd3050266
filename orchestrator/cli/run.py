"""Runs, resumes and forks: opens the store, builds the agents, runs to the end and exits."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext

from agents import load_model
from evaluation import TaskCase
from orchestrator.cli.ask import Answer, build_answer
from orchestrator.cli.checks import read_contract
from orchestrator.cli.exits import report_bad_input
from orchestrator.cli.options import RunOptions, TypedOptions
from orchestrator.cli.session import OpenStream, Session, print_and_exit
from orchestrator.cli.store import (
    changed_options,
    open_store,
    parse_options,
    read_baseline,
    refuse_unfinished_run,
    restore_options,
)
from orchestrator.cli.view.consoles import build_console, print_logs_on
from orchestrator.engine import LangGraphOrchestrator
from orchestrator.errors import ConfigurationError
from orchestrator.persistence import Store
from orchestrator.retry.policy import RetryPolicy
from orchestrator.runtime.budget import Budget
from orchestrator.settings import Settings, check_task, check_thread_id
from orchestrator.state.graph_state import OrchestratorState
from orchestrator.task_contracts.model_writer import ModelWriter
from orchestrator.task_contracts.writers import ContractWriter


def run_task(
    task: str,
    typed: TypedOptions,
    *,
    thread: str,
    db: str | None,
    no_db: bool,
    contract: str | None,
    json: bool,
) -> None:
    """Run a task, print its final state and exit.

    Args:
        task: What to do.
        typed: Values of fields of ``RunOptions``.
        thread: Name of the run.
        db: Path or URL of the store; None for the user's file.
        no_db: Do not store the run.
        contract: Path of a file with the contract of the task; None to derive it.
        json: Print JSON, and ask nothing.

    Raises:
        typer.Exit: With the exit status, unless the run succeeded.
    """
    with report_bad_input():
        check_task(task)
        check_thread_id(thread)
        options = parse_options(typed)
        build_settings(options)  # reports bad values before the store is created
        case = _read_contract(contract, task, options)
        with _open_new_store(db, options, no_db=no_db) as store:
            if store is not None:
                refuse_unfinished_run(store, thread)
            state = _execute(
                options,
                store,
                thread,
                lambda orchestrator: orchestrator.astream(task, thread),
                case=case,
                json=json,
            )
    print_and_exit(state, thread, store, json=json)


def resume_run(
    thread: str,
    typed: TypedOptions,
    *,
    approve: bool,
    correct: str | None,
    deny: str | None,
    db: str | None,
    json: bool,
) -> None:
    """Resume a run, print its final state and exit.

    Args:
        thread: Name of the run.
        typed: Fields of ``RunOptions`` to change.
        approve: Answer that the output is accepted.
        correct: Answer with instructions for another attempt.
        deny: Answer that ends the run, with the reason.
        db: Path or URL of the store; None for the user's file.
        json: Print JSON, and ask nothing.

    Raises:
        typer.Exit: With the exit status, unless the run succeeded.
    """
    with report_bad_input():
        answer = _read_answer(approve=approve, correct=correct, deny=deny)
        with open_store(db) as store:
            options = restore_options(store, thread, typed)
            state = _execute(
                options,
                store,
                thread,
                lambda orchestrator: orchestrator.astream_resumed(thread, answer),
                json=json,
            )
    print_and_exit(state, thread, store, json=json)


def fork_run(thread: str, step: int, typed: TypedOptions, *, new: str, db: str | None, json: bool) -> None:
    """Fork a run, print the final state of the new run and exit.

    Args:
        thread: Name of the run.
        step: The first step to execute again, from 1.
        typed: Fields of ``RunOptions`` to change.
        new: Name of the new run.
        db: Path or URL of the store of both runs; None for the user's file.
        json: Print JSON, and ask nothing.

    Raises:
        typer.Exit: With the exit status, unless the run succeeded.
    """
    with report_bad_input():
        check_thread_id(new)
        with open_store(db) as store:
            options = restore_options(store, thread, typed)
            index = step - 1  # users count steps from 1, as `show` does
            state = _execute(
                options,
                store,
                new,
                lambda orchestrator: orchestrator.astream_forked(thread, index, new),
                json=json,
            )
    print_and_exit(state, new, store, json=json)


def build_settings(options: RunOptions) -> Settings:
    """Convert options to settings.

    Raises:
        ConfigurationError: A value is not accepted.
    """
    budget = Budget(
        max_seconds=options.max_seconds,
        max_total_tokens=options.max_tokens,
        max_model_calls=options.max_calls,
    )
    return Settings(
        retry_policy=RetryPolicy(max_retries=options.max_retries),
        call_timeout=options.call_timeout,
        step_timeout=options.step_timeout,
        budget=budget,
        supervision=options.supervise,
        synthesis=options.synthesis,
        require=options.require,
    )


@contextmanager
def _open_new_store(path: str | None, options: RunOptions, *, no_db: bool) -> Iterator[Store | None]:
    if no_db and path is not None:
        raise ConfigurationError("--db and --no-db contradict each other; give one of them")
    if no_db and options.supervise == "human":
        raise ConfigurationError(
            "--no-db cannot store a question of --supervise human; leave one of them out"
        )
    with nullcontext() if no_db else open_store(path, changed_options(options)) as store:
        yield store


def _execute(
    options: RunOptions,
    store: Store | None,
    thread_id: str,
    open_stream: OpenStream,
    *,
    case: TaskCase | None = None,
    json: bool,
) -> OrchestratorState:
    console = build_console(stderr=True)
    where = None if store is None else store.where
    with print_logs_on(console):
        evaluation = read_baseline(options.baseline, store)
        orchestrator = LangGraphOrchestrator.from_model(
            options.model,
            contract=(case or "from_task") if options.checks else None,
            contract_writer=_load_writer(options),
            evaluation=evaluation,
            checkpointer=store,
            # Each other setting has the name of an argument.
            **{name: value for name, value in build_settings(options) if name != "human"},
        )
        return Session(orchestrator, thread_id, console, quiet=json, where=where).run(open_stream)


def _read_contract(path: str | None, task: str, options: RunOptions) -> TaskCase | None:
    if path is not None and not options.checks:
        raise ConfigurationError("--contract and --no-checks contradict each other; give one of them")
    return None if path is None else read_contract(path, task)


def _load_writer(options: RunOptions) -> ContractWriter | None:
    if options.checks_model is None or not options.checks:
        return None
    return ModelWriter(load_model(options.checks_model))


def _read_answer(*, approve: bool, correct: str | None, deny: str | None) -> Answer | None:
    texts = {name: text for name, text in (("correct", correct), ("deny", deny)) if text is not None}
    if approve + len(texts) > 1:
        raise ConfigurationError(
            "--approve, --correct and --deny contradict each other; give one of them, or none after a crash"
        )
    for name, text in texts.items():
        if not text.strip():
            raise ConfigurationError(f"--{name} is {text!r}; give a text that says what to do, or why")
        return build_answer(name, text)
    return build_answer("approve") if approve else None
