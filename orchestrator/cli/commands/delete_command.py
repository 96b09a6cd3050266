"""``orchestrator delete``."""

from __future__ import annotations

from typing import Annotated

import typer

from orchestrator.cli.options import shared_options as shared
from orchestrator.cli.session.bad_input import report_bad_input
from orchestrator.cli.session.stored_options import open_store
from orchestrator.cli.view.terminal_text import one_line

Thread = Annotated[str, typer.Argument(help="Whole name of the run.", metavar="THREAD", show_default=False)]


def delete(thread: Thread, *, db: shared.Database = None) -> None:
    """Delete the run THREAD, in any status.

    A run that a process is executing is not deleted.
    """
    with report_bad_input(), open_store(db) as store:
        store.history.delete(thread)
    typer.echo(f"deleted {one_line(thread, 5000)}", err=True)
