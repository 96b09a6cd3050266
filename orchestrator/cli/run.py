"""``orchestrator run``: plan, execute, monitor."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Annotated

import typer
from rich.text import Text

from orchestrator.cli.arguments import text
from orchestrator.cli.consoles import logs_on, progress_console
from orchestrator.cli.conversation import Conversation
from orchestrator.cli.ending import end
from orchestrator.cli.exits import bad_input_exits
from orchestrator.cli.follow import interrupted_before
from orchestrator.cli.interruption import unless_interrupted
from orchestrator.cli.options import (
    AsJson,
    CallTimeout,
    Database,
    MaxCalls,
    MaxSeconds,
    MaxTokens,
    Model,
    Options,
    Retries,
    StepTimeout,
    Supervise,
    Task,
)
from orchestrator.cli.store import Store, kept_in, open_store, shown
from orchestrator.cli.text import one_line
from orchestrator.config import check_task, check_thread_id
from orchestrator.errors import ConfigurationError
from orchestrator.state import OrchestratorState
from orchestrator.wiring import build_orchestrator

NoDatabase = Annotated[bool, typer.Option("--no-db", help="Keep nothing.")]
Thread = Annotated[
    str | None, typer.Option("--thread", help="Names the run; one is made up.", metavar="ID", parser=text)
]


def run(
    task: Task,
    *,
    model: Model = "local",
    max_retries: Retries = 2,
    supervise: Supervise = "none",
    db: Database = None,
    no_db: NoDatabase = False,
    thread: Thread = None,
    json: AsJson = False,
    call_timeout: CallTimeout = None,
    step_timeout: StepTimeout = None,
    max_seconds: MaxSeconds = None,
    max_tokens: MaxTokens = None,
    max_calls: MaxCalls = None,
) -> None:
    """Plan TASK, execute it step by step and have every step judged.

    Exit status: 0 success, 1 failure, 2 bad input, 3 waiting for an answer, 130 interrupted at the start.
    """
    thread_id = str(uuid.uuid4()) if thread is None else thread
    with bad_input_exits():
        check_task(task)
        check_thread_id(thread)
        options = Options(
            model=model,
            supervise=supervise,
            max_retries=max_retries,
            call_timeout=call_timeout,
            step_timeout=step_timeout,
            max_seconds=max_seconds,
            max_tokens=max_tokens,
            max_calls=max_calls,
        )
        options.settings()
        with _store(db, options, none=no_db) as store:
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
        conversation = Conversation(orchestrator, thread_id, console, quiet)
        if store is None:
            return conversation.begin(task)
        console.print(Text(f"thread {one_line(thread_id)}, kept in {shown(store.path)}"))
        with kept_in(store.path, thread_id):
            return conversation.begin(task)
