"""Lists, shows and deletes stored runs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from datetime import datetime, timedelta

import typer
from rich.text import Text

from orchestrator.cli.exits import report_bad_input
from orchestrator.cli.store import open_store
from orchestrator.cli.view.consoles import build_console
from orchestrator.cli.view.history import draw_run, draw_runs
from orchestrator.cli.view.question import format_answer_command
from orchestrator.cli.view.text import one_line, to_json
from orchestrator.persistence import Store
from orchestrator.runs.summary import StoredStatus


def list_runs(
    *,
    status: StoredStatus | None,
    since: datetime | None,
    task: str | None,
    limit: int,
    db: str | None,
    json: bool,
) -> None:
    """Print the runs of a store, newest first."""
    with _open_for_reading(db) as store:
        runs = store.history.runs(status=status, since=since, task=task, limit=limit)
    if json:
        typer.echo(to_json([asdict(run) for run in runs]).encode())
    else:
        build_console().print(draw_runs(runs) if runs else Text("no runs"))


def show_run(thread: str, *, db: str | None, json: bool) -> None:
    """Print one run: its plan, its executions with their verdicts, its usage and its result."""
    with _open_for_reading(db) as store:
        run = store.history.show(thread)
    if json:
        typer.echo(to_json({**asdict(run.summary), "state": run.state}).encode())
        return
    console = build_console()
    console.print(draw_run(run))
    if run.summary.question is not None:
        command = format_answer_command(run.summary.question, thread, store.where)
        console.print(Text(command), soft_wrap=True)


def delete_run(thread: str, *, db: str | None) -> None:
    """Delete one run."""
    with _open_for_reading(db) as store:
        store.history.delete(thread)
    _print_progress(f"deleted {thread}")


def prune_runs(*, keep_last: int | None, older_than: int | None, db: str | None) -> None:
    """Delete runs that have ended.

    Args:
        keep_last: Number of runs to keep, those stored last.
        older_than: Age in days up to which runs are kept.
        db: Path or URL of the store; None for the user's file.
    """
    age = None if older_than is None else timedelta(days=older_than)
    with _open_for_reading(db) as store:
        deleted = store.history.prune(keep_last=keep_last, older_than=age)
    for thread in deleted:
        _print_progress(f"deleted {thread}")
    if not deleted:
        _print_progress("nothing to delete")


@contextmanager
def _open_for_reading(db: str | None) -> Iterator[Store]:
    with report_bad_input(), open_store(db) as store:
        yield store


def _print_progress(sentence: str) -> None:
    # Long enough for every thread name: users copy it from here.
    build_console(stderr=True).print(Text(one_line(sentence, 5000)))
