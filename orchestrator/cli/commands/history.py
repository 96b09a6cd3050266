"""``orchestrator runs``, ``show``, ``delete`` and ``prune``."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Annotated, Literal, get_args

import typer

from orchestrator.cli.arguments.parameters import (
    AsJson,
    Database,
    Display,
    InFull,
    Thread,
    ThreadOrLast,
    check_thread_choice,
)
from orchestrator.cli.arguments.values import count_parser, parse_age, parse_time, word_parser
from orchestrator.cli.process.opening import announce

# A copy of StoredStatus, whose module loads LangGraph; a test compares the two.
StatusWord = Literal["planning", "executing", "interrupted", "waiting", "success", "failed", "unreadable"]
Status = Annotated[
    StatusWord | None,
    typer.Option(
        help=f"List only runs with this status: {', '.join(get_args(StatusWord))}.",
        metavar="STATUS",
        parser=word_parser(*get_args(StatusWord)),
    ),
]
Since = Annotated[
    datetime | None,
    typer.Option(
        help="List only runs stored since this date or time, or in the last 90m, 12h or 30d.",
        metavar="TIME",
        parser=parse_time,
    ),
]
TaskPart = Annotated[
    str | None, typer.Option("--task", help="List only runs whose task contains this text.", metavar="TEXT")
]
Limit = Annotated[
    int, typer.Option(help="Maximum number of runs to list.", metavar="N", parser=count_parser(1))
]
Last = Annotated[bool, typer.Option("--last", help="Show the run that was stored last.")]
KeepLast = Annotated[
    int | None,
    typer.Option(help="Keep the N runs that were stored last.", metavar="N", parser=count_parser(0)),
]
OlderThan = Annotated[
    timedelta | None,
    typer.Option(
        help="Keep the runs of this last time, such as 12h or 30d.", metavar="AGE", parser=parse_age
    ),
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="List what would be deleted, and delete nothing.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask before deleting.")]


def runs(
    *,
    status: Status = None,
    since: Since = None,
    task: TaskPart = None,
    limit: Limit = 50,
    db: Database = None,
    json: AsJson = False,
) -> None:
    """List the stored runs, newest first."""
    with announce("reading the runs ..."):
        from orchestrator.cli.history import list_runs  # noqa: PLC0415 - slow to import

    list_runs(status=status, since=since, task=task, limit=limit, db=db, json=json)


def show(
    thread: ThreadOrLast = None,
    *,
    last: Last = False,
    db: Database = None,
    json: AsJson = False,
    full: InFull = False,
) -> None:
    """Show the plan, the executions and the result of the run THREAD."""
    check_thread_choice(thread, last=last)
    with announce("reading the run ..."):
        from orchestrator.cli.history import show_run  # noqa: PLC0415 - slow to import

    show_run(thread, db=db, display=Display(json, full))


def delete(thread: Thread, *, yes: Yes = False, db: Database = None) -> None:
    """Delete the run THREAD, in any status. It asks first if THREAD is only the start of the name.

    A run that a process is executing is not deleted.
    """
    with announce("reading the run ..."):
        from orchestrator.cli.history import delete_run  # noqa: PLC0415 - slow to import

    delete_run(thread, yes=yes, db=db)


def prune(
    *,
    keep_last: KeepLast = None,
    older_than: OlderThan = None,
    dry_run: DryRun = False,
    yes: Yes = False,
    db: Database = None,
) -> None:
    """Delete runs that have ended. Runs that wait, are being executed or crashed are never deleted.

    With both options, a run is kept if either option keeps it. On a terminal, it asks first.
    """
    with announce("reading the runs ..."):
        from orchestrator.cli.history import prune_runs  # noqa: PLC0415 - slow to import

    prune_runs(keep_last=keep_last, older_than=older_than, dry_run=dry_run, yes=yes, db=db)
