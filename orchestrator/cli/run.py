"""``orchestrator run``: plan, execute, monitor."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext

from orchestrator.cli.conversation import Conversation
from orchestrator.cli.ending import end
from orchestrator.cli.exits import bad_input_exits
from orchestrator.cli.follow import interrupted_before
from orchestrator.cli.interruption import unless_interrupted
from orchestrator.cli.options import Options
from orchestrator.cli.store import check_ended, kept_in, open_store
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
