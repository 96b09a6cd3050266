"""``orchestrator run``: plan, execute, monitor."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext

from orchestrator.cli.ask import Answer, given
from orchestrator.cli.exits import bad_input_exits
from orchestrator.cli.interruption import unless_interrupted
from orchestrator.cli.options import Options, options_from
from orchestrator.cli.session import Conversation, end, interrupted_before
from orchestrator.cli.store import check_ended, command_of, kept_in, open_store
from orchestrator.cli.view.consoles import logs_on, progress_console
from orchestrator.errors import ConfigurationError
from orchestrator.persistence import Store
from orchestrator.settings import check_task, check_thread_id
from orchestrator.state.graph_state import OrchestratorState
from orchestrator.wiring import build_orchestrator


def begin(
    task: str,
    typed: Mapping[str, object],
    *,
    thread: str | None,
    db: str | None,
    no_db: bool,
    json: bool,
) -> None:
    """Run a task, print how it ended and exit.

    Args:
        task: What to do.
        typed: The fields of ``Options``.
        thread: Names the run; None to have one made up.
        db: The file that keeps it; None for the user's.
        no_db: Keep nothing.
        json: Print JSON, and ask nothing.

    Raises:
        typer.Exit: With the exit status, but for success.
    """
    thread_id = str(uuid.uuid4()) if thread is None else thread
    with bad_input_exits():
        check_task(task)
        check_thread_id(thread)
        options = Options.model_validate(typed)
        options.settings()
        with _store(db, options, none=no_db) as store:
            if store is not None and thread is not None:
                check_ended(store, thread)
            state = _run(task, thread_id, options, store, quiet=json)
    end(state, thread_id, store, json=json)


@contextmanager
def _store(path: str | None, options: Options, *, none: bool) -> Iterator[Store | None]:
    if none and path is not None:
        raise ConfigurationError("--db and --no-db contradict each other; give one of them")
    if none and options.supervise == "human":
        raise ConfigurationError("--no-db keeps no question for --supervise human; leave one of them out")
    with nullcontext() if none else open_store(path, options.kept()) as store:
        yield store


def _run(
    task: str, thread_id: str, options: Options, store: Store | None, *, quiet: bool
) -> OrchestratorState:
    console = progress_console()
    with logs_on(console):
        settings, saver = options.settings(), None if store is None else store.saver
        orchestrator = unless_interrupted(
            lambda: build_orchestrator(options.model, settings, checkpointer=saver)
        )
        if orchestrator is None:
            return interrupted_before(task, options.max_retries)
        if store is None:
            return Conversation(orchestrator, thread_id, console, quiet).begin(task)
        with kept_in(store, thread_id):
            return Conversation(orchestrator, thread_id, console, quiet, store.where).begin(task)


def go_on(
    thread: str,
    typed: Mapping[str, object],
    *,
    approve: bool,
    correct: str | None,
    deny: str | None,
    db: str | None,
    json: bool,
) -> None:
    """Go on with a run, print how it ended and exit.

    Args:
        thread: Names the run.
        typed: Fields of ``Options`` that are not to be as they were; None for those that are.
        approve: The answer is that the output stands.
        correct: The answer is to do it again, like this.
        deny: The answer is to end the run, for this reason.
        db: The file that keeps it; None for the user's.
        json: Print JSON, and ask nothing.

    Raises:
        typer.Exit: With the exit status, but for success.
    """
    with bad_input_exits():
        answer = _answer(approve=approve, correct=correct, deny=deny)
        with open_store(db) as store:
            state = _resume(thread, answer, typed, store, quiet=json)
    end(state, thread, store, json=json)


def _answer(*, approve: bool, correct: str | None, deny: str | None) -> Answer | None:
    texts = {"correct": correct, "deny": deny}
    answers = {word: said for word, said in texts.items() if said is not None}
    if approve + len(answers) > 1:
        raise ConfigurationError(
            "--approve, --correct and --deny contradict each other; give one of them, or none after a crash"
        )
    for word, said in answers.items():
        if not said.strip():
            raise ConfigurationError(f"--{word} is {said!r}; give a text that says what to do, or why")
        return given(word, said)
    return given("approve") if approve else None


def _resume(
    thread_id: str, answer: Answer | None, typed: Mapping[str, object], store: Store, *, quiet: bool
) -> OrchestratorState:
    options = options_from(command_of(store, thread_id), thread_id).but(**typed)
    store.keep(options.kept())
    console = progress_console()
    with logs_on(console):
        orchestrator = build_orchestrator(options.model, options.settings(), checkpointer=store.saver)
        with kept_in(store, thread_id):
            return Conversation(orchestrator, thread_id, console, quiet).go_on(answer)


def branch_off(
    thread: str, step: int, typed: Mapping[str, object], *, new: str | None, db: str | None, json: bool
) -> None:
    """Fork a run, print how the new one ended and exit.

    Args:
        thread: Names the run.
        step: The step to begin with, from 1.
        typed: Fields of ``Options`` that are not to be as they were; None for those that are.
        new: Names the new run; None to have a name made up.
        db: The store of both; None for the user's file.
        json: Print JSON, and ask nothing.

    Raises:
        typer.Exit: With the exit status, but for success.
    """
    new_thread = str(uuid.uuid4()) if new is None else new
    with bad_input_exits():
        check_thread_id(new_thread)
        if step < 1:
            raise ConfigurationError(f"step is {step}; give the number of a step, from 1")
        with open_store(db) as store:
            state = _forked(thread, step, new_thread, typed, store, quiet=json)
    end(state, new_thread, store, json=json)


def _forked(
    thread: str, step: int, new: str, typed: Mapping[str, object], store: Store, *, quiet: bool
) -> OrchestratorState:
    options = options_from(command_of(store, thread), thread).but(**typed)
    store.keep(options.kept())
    console = progress_console()
    with logs_on(console):
        orchestrator = build_orchestrator(options.model, options.settings(), checkpointer=store.saver)
        with kept_in(store, new):
            return Conversation(orchestrator, new, console, quiet, store.where).branch_off(thread, step - 1)
