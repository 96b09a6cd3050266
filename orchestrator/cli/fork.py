"""``orchestrator fork``: go on otherwise from before a step of a run."""

from __future__ import annotations

import uuid
from collections.abc import Mapping

from orchestrator.cli.conversation import Conversation
from orchestrator.cli.ending import end
from orchestrator.cli.exits import bad_input_exits
from orchestrator.cli.options import options_from
from orchestrator.cli.store import command_of, kept_in, open_store
from orchestrator.cli.view.consoles import logs_on, progress_console
from orchestrator.errors import ConfigurationError
from orchestrator.persistence import Store
from orchestrator.settings import check_thread_id
from orchestrator.state.graph_state import OrchestratorState
from orchestrator.wiring import build_orchestrator


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
