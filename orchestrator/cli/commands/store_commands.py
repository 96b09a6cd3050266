"""``orchestrator runs``, ``show``, ``delete`` and ``prune``: the commands about stored runs."""

from __future__ import annotations

from dataclasses import asdict
from datetime import timedelta
from typing import Annotated

import typer
from rich.console import OverflowMethod
from rich.text import Text

from orchestrator.cli import shared_options as shared
from orchestrator.cli.session.stored_options import find_thread, open_store
from orchestrator.cli.view.consoles import build_console, one_line, print_json, report_bad_input
from orchestrator.cli.view.person import describe_next
from orchestrator.cli.view.stored_runs import draw_run, draw_runs, output_first
from orchestrator.errors import ConfigurationError
from orchestrator.runs.run_selection import StoredStatus

Status = Annotated[StoredStatus | None, typer.Option(help="List only runs with this status.")]
Limit = Annotated[int, typer.Option(help="Maximum number of runs to list.", metavar="N", min=1)]
WholeName = Annotated[
    str, typer.Argument(help="Whole name of the run.", metavar="THREAD", show_default=False)
]
KeepLast = Annotated[
    int | None, typer.Option(help="Keep the N runs that were stored last.", metavar="N", min=0)
]
OlderThan = Annotated[
    timedelta | None,
    typer.Option(
        help="Keep the runs of this last time, such as 12h or 30d.", metavar="AGE", parser=shared.parse_age
    ),
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="List what would be deleted, and delete nothing.")]


def runs(
    *,
    status: Status = None,
    limit: Limit = 50,
    db: shared.Database = None,
    json: shared.Json = False,
) -> None:
    """List the stored runs, newest first."""
    with report_bad_input(), open_store(db) as store:
        found = store.history.runs(status=status, limit=limit)
    if json:
        print_json(found)
        return
    console = build_console()
    # A terminal cuts a long task at its edge; a pipe gets whole lines.
    overflow: OverflowMethod = "ignore" if console.soft_wrap else "ellipsis"
    console.print(draw_runs(found), no_wrap=True, overflow=overflow)


def show(
    thread: shared.Thread = None,
    *,
    last: shared.Last = False,
    db: shared.Database = None,
    json: shared.Json = False,
) -> None:
    """Show the plan, the executions and the result of the run THREAD."""
    with report_bad_input(), open_store(db) as store:
        run = store.history.show(find_thread(store, thread, last=last))
        can_resume = run.summary.can_resume
        hint = f"To go on, {describe_next(store, run.summary.thread_id)}" if can_resume else ""
    if json:
        # A run that failed has no output; its failure says why it is null.
        named = {name: run.state[name] for name in ("output", "basis", "failure")}
        print_json({**named, **asdict(run.summary), "state": output_first(run.state)})
        return
    console = build_console()
    console.print(draw_run(run))
    if hint:
        console.print(Text(hint), soft_wrap=True)


def delete(thread: WholeName, *, db: shared.Database = None) -> None:
    """Delete the run THREAD, in any status.

    A run that a process is executing is not deleted.
    """
    with report_bad_input(), open_store(db) as store:
        store.history.delete(thread)
    typer.echo(f"deleted {one_line(thread, 5000)}", err=True)


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
    with report_bad_input():
        if keep_last is None and older_than is None:
            raise ConfigurationError("prune needs --keep-last N or --older-than AGE; give one of them")
        with open_store(db) as store:
            threads = store.history.prune(keep_last=keep_last, older_than=older_than, dry_run=dry_run)
    for thread in threads:
        typer.echo(f"{'would delete' if dry_run else 'deleted'} {one_line(thread, 5000)}", err=True)
    if not threads:
        typer.echo("nothing to delete", err=True)
