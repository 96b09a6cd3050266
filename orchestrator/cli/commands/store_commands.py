"""``orchestrator runs``, ``show`` and ``delete``: the commands about stored runs."""

from __future__ import annotations

from dataclasses import asdict

import typer
from rich.text import Text

from orchestrator.cli import options
from orchestrator.cli.consoles import build_console, one_line, print_json
from orchestrator.cli.run_drawings import add_best_attempt, draw_run, draw_runs
from orchestrator.cli.run_options import describe_next, open_store
from orchestrator.state.graph_state import StoredStatus


def runs(
    *,
    status: StoredStatus | None = None,
    limit: options.Count[int] = 50,
    db: options.Database = None,
    json: options.Json = False,
) -> None:
    """List the stored runs, newest first.

    Args:
        status: List only runs with this status.
        limit: Maximum number of runs to list.
    """
    with open_store(db) as store:
        found = store.history.runs(status=status, limit=limit)
    if json:
        print_json(found)
        return
    console = build_console()
    # A terminal cuts a long task at its edge; a pipe gets whole lines.
    console.print(draw_runs(found), no_wrap=True, overflow="ignore" if console.soft_wrap else "ellipsis")


def show(
    thread: options.Thread,
    *,
    db: options.Database = None,
    json: options.Json = False,
) -> None:
    """Show the plan, the executions and the result of the run THREAD."""
    with open_store(db) as store:
        run = store.history.show(thread)
        hint = f"To go on, {describe_next(store, thread)}" if run.summary.can_resume else ""
    if json:
        print_json({**asdict(run.summary), "state": add_best_attempt(run.state)})
        return
    console = build_console()
    console.print(draw_run(run))
    if hint:
        console.print(Text(hint), soft_wrap=True)


def delete(thread: options.Thread, *, db: options.Database = None) -> None:
    """Delete the run THREAD, in any status.

    A run that a process is executing is not deleted.
    """
    with open_store(db) as store:
        store.history.delete(thread)
    typer.echo(f"deleted {one_line(thread, 5000)}", err=True)
