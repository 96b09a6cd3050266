"""``orchestrator prune``."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Annotated

import typer

from orchestrator.cli.options import shared_options as shared
from orchestrator.cli.options.durations import parse_age
from orchestrator.cli.session.bad_input import report_bad_input
from orchestrator.cli.session.stored_options import open_store
from orchestrator.cli.view.terminal_text import one_line
from orchestrator.errors import ConfigurationError

KeepLast = Annotated[
    int | None, typer.Option(help="Keep the N runs that were stored last.", metavar="N", min=0)
]
OlderThan = Annotated[
    timedelta | None,
    typer.Option(
        help="Keep the runs of this last time, such as 12h or 30d.", metavar="AGE", parser=parse_age
    ),
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="List what would be deleted, and delete nothing.")]


def prune(
    *,
    keep_last: KeepLast = None,
    older_than: OlderThan = None,
    dry_run: DryRun = False,
    db: shared.Database = None,
) -> None:
    """Delete runs that have ended. Runs that wait, are being executed or crashed are never deleted.

    With both options, a run is kept if either option keeps it.
    """
    listed: list[str] = []

    def confirm(threads: Sequence[str]) -> bool:
        listed.extend(threads)
        return not dry_run

    with report_bad_input():
        if keep_last is None and older_than is None:
            raise ConfigurationError("prune needs --keep-last N or --older-than AGE; give one of them")
        with open_store(db) as store:
            deleted = store.history.prune(keep_last=keep_last, older_than=older_than, confirm=confirm)
    for thread in listed if dry_run else deleted:
        typer.echo(f"{'would delete' if dry_run else 'deleted'} {one_line(thread, 5000)}", err=True)
    if not listed:
        typer.echo("nothing to delete", err=True)
