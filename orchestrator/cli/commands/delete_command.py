"""``orchestrator delete``."""

from __future__ import annotations

from typing import Annotated

import typer

from orchestrator.cli.options import shared_options as shared
from orchestrator.cli.session.bad_input import report_bad_input
from orchestrator.cli.session.person import confirm_deletion, is_terminal
from orchestrator.cli.session.stored_options import open_store
from orchestrator.cli.session.thread_names import complete_thread
from orchestrator.cli.view.terminal_text import one_line
from orchestrator.errors import ConfigurationError

Thread = Annotated[
    str, typer.Argument(help="Name of the run, or the start of it.", metavar="THREAD", show_default=False)
]


def delete(thread: Thread, *, yes: shared.Yes = False, db: shared.Database = None) -> None:
    """Delete the run THREAD, in any status. It asks first if THREAD is only the start of the name.

    A run that a process is executing is not deleted.
    """
    with report_bad_input(), open_store(db) as store:
        name = complete_thread(store, thread)
        if name != thread and not yes:
            if not is_terminal():
                raise ConfigurationError(
                    f"{thread!r} is only the start of the name {name!r}, and nobody can be asked; "
                    "give the whole name, or --yes"
                )
            if not confirm_deletion([name]):
                return
        store.history.delete(name)
    typer.echo(f"deleted {one_line(name, 5000)}", err=True)
