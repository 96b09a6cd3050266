"""``orchestrator runs``."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime
from typing import Annotated

import typer
from rich.console import OverflowMethod
from rich.text import Text

from orchestrator.cli.options import shared_options as shared
from orchestrator.cli.options.durations import parse_time
from orchestrator.cli.session.bad_input import report_bad_input
from orchestrator.cli.session.stored_options import describe_no_store, open_store
from orchestrator.cli.view.consoles import build_console
from orchestrator.cli.view.json_documents import print_json
from orchestrator.cli.view.stored_runs import draw_runs
from orchestrator.runs.summary import StoredStatus

Status = Annotated[StoredStatus | None, typer.Option(help="List only runs with this status.")]
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
Limit = Annotated[int, typer.Option(help="Maximum number of runs to list.", metavar="N", min=1)]


def runs(
    *,
    status: Status = None,
    since: Since = None,
    task: TaskPart = None,
    limit: Limit = 50,
    db: shared.Database = None,
    json: shared.Json = False,
) -> None:
    """List the stored runs, newest first."""
    if (nothing := describe_no_store(db)) is not None:
        typer.echo(nothing, err=True)
        found = []
    else:
        with report_bad_input(), open_store(db) as store:
            found = store.history.runs(status=status, since=since, task=task, limit=limit)
    if json:
        print_json([asdict(run) for run in found])
    elif nothing is None:
        console = build_console()
        # A terminal cuts a long task at its edge; a pipe gets whole lines.
        overflow: OverflowMethod = "ignore" if console.soft_wrap else "ellipsis"
        console.print(draw_runs(found) if found else Text("no runs"), no_wrap=True, overflow=overflow)
