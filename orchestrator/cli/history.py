"""Lists, shows and deletes stored runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Final

import typer
from rich.console import OverflowMethod
from rich.text import Text

from evaluation.values import as_list
from orchestrator.cli.arguments.parameters import Display
from orchestrator.cli.arguments.threads import complete_thread, find_thread
from orchestrator.cli.ask import is_terminal
from orchestrator.cli.process.exits import report_bad_input
from orchestrator.cli.store import describe_no_store, open_store
from orchestrator.cli.view.consoles import build_console
from orchestrator.cli.view.history import draw_run, draw_runs
from orchestrator.cli.view.plain import state_to_plain
from orchestrator.cli.view.question import (
    describe_python_resume,
    format_answer_command,
    format_resume_command,
)
from orchestrator.cli.view.text import count_noun, one_line, to_json
from orchestrator.errors import ConfigurationError
from orchestrator.persistence import RunSummary, Store
from orchestrator.runs.summary import StoredStatus

_NAMED: Final = 5
"""Number of runs that the question before a deletion names."""


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
    if (nothing := describe_no_store(db)) is not None:
        _print_progress(nothing)
        if json:
            typer.echo("[]")
        return
    with _open_for_reading(db) as store:
        runs = store.history.runs(status=status, since=since, task=task, limit=limit)
    if json:
        typer.echo(to_json([asdict(run) for run in runs]).encode())
    else:
        console = build_console()
        # A terminal cuts a long task at its edge; a pipe gets whole lines.
        overflow: OverflowMethod = "ignore" if console.soft_wrap else "ellipsis"
        console.print(draw_runs(runs) if runs else Text("no runs"), no_wrap=True, overflow=overflow)


def show_run(thread: str | None, *, db: str | None, display: Display) -> None:
    """Print one run: its plan, its executions with their verdicts, its usage and its result."""
    with _open_for_reading(db) as store:
        run = store.history.show(find_thread(store, thread))
        hint = _describe_next(run.summary, store)
    if display.json:
        state = state_to_plain(run.state, full=display.full)
        # A run that failed has no output; its failure says why it is null.
        named = {name: run.state[name] for name in ("output", "basis", "failure")}
        document = {**named, **asdict(run.summary), "state": state}
        typer.echo(to_json(document).encode())
        return
    console = build_console()
    console.print(draw_run(run))
    if hint:
        console.print(Text(hint), soft_wrap=True)


def _describe_next(run: RunSummary, store: Store) -> str:
    """Return what continues a run that is waiting or was interrupted: a command, or a call in Python."""
    if run.status not in ("waiting", "interrupted"):
        return ""
    options = store.history.command(run.thread_id)
    if options is None:
        return f"To go on, {describe_python_resume(run.question, run.thread_id)}"
    # Printed only: the command that is typed decides which code runs.
    tools = [name for name in as_list(options.get("tools")) if isinstance(name, str)]
    if run.question is None:
        return format_resume_command(run.thread_id, store.where, tools)
    return format_answer_command(run.question, run.thread_id, store.where, tools)


def delete_run(thread: str, *, yes: bool, db: str | None) -> None:
    """Delete one run. The start of a name is not enough without a confirmation."""
    with _open_for_reading(db) as store:
        name = complete_thread(store, thread)
        if name != thread and not yes:
            _require_terminal(thread, name)
            if not _confirm_deletion([name]):
                return
        store.history.delete(name)
    _print_progress(f"deleted {name}")


def prune_runs(
    *, keep_last: int | None, older_than: timedelta | None, dry_run: bool, yes: bool, db: str | None
) -> None:
    """Delete runs that have ended.

    Args:
        keep_last: Number of runs to keep, those stored last.
        older_than: Age up to which runs are kept.
        dry_run: Print the runs, and delete none.
        yes: Ask nothing.
        db: Path or URL of the store; None for the user's file.
    """
    listed: list[str] = []

    def confirm(threads: Sequence[str]) -> bool:
        listed.extend(threads)
        return not dry_run and (yes or not is_terminal() or _confirm_deletion(threads))

    with _open_for_reading(db) as store:
        if keep_last is None and older_than is None:
            raise ConfigurationError(
                "prune needs --keep-last N or --older-than AGE; give at least one of them"
            )
        deleted = store.history.prune(keep_last=keep_last, older_than=older_than, confirm=confirm)
    for thread in listed if dry_run else deleted:
        _print_progress(f"{'would delete' if dry_run else 'deleted'} {thread}")
    if not listed:
        _print_progress("nothing to delete")


def _require_terminal(start: str, name: str) -> None:
    if not is_terminal():
        raise ConfigurationError(
            f"{start!r} is only the start of the name {name!r}, and nobody can be asked; "
            "give the whole name, or --yes"
        )


def _confirm_deletion(threads: Sequence[str]) -> bool:
    names = ", ".join(one_line(thread, 80) for thread in threads[:_NAMED])
    more = f" and {len(threads) - _NAMED} more" if len(threads) > _NAMED else ""
    is_confirmed = typer.confirm(f"Delete {count_noun(len(threads), 'run')} ({names}{more})?", err=True)
    if not is_confirmed:
        _print_progress("nothing was deleted")
    return is_confirmed


@contextmanager
def _open_for_reading(db: str | None) -> Iterator[Store]:
    with report_bad_input(), open_store(db) as store:
        yield store


def _print_progress(sentence: str) -> None:
    # Long enough for every thread name: users copy it from here.
    build_console(stderr=True).print(Text(one_line(sentence, 5000)))
