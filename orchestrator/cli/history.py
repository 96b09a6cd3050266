"""``orchestrator runs``, ``show``, ``delete`` and ``prune``: the runs that are kept."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Final

import typer
from rich.text import Text

from orchestrator.cli.exits import bad_input_exits, unwritten_exits
from orchestrator.cli.store import open_store, reading
from orchestrator.cli.view.consoles import progress_console, result_console
from orchestrator.cli.view.history import runs_table, story
from orchestrator.cli.view.question import how_to_answer
from orchestrator.cli.view.text import as_json, one_line
from orchestrator.errors import ConfigurationError
from orchestrator.persistence import RunSummary, Store
from orchestrator.runs.summary import StoredStatus

_MOST_DAYS: Final = 700_000
"""About as many as a calendar holds."""


def list_runs(
    *,
    status: StoredStatus | None,
    since: datetime | None,
    task: str | None,
    limit: int,
    db: str | None,
    json: bool,
) -> None:
    """Print the runs of a store, the one that was stored last first."""
    with _opened(db) as store:
        found = store.history.runs(status=status, since=since, task=task, limit=limit)
    with unwritten_exits():
        if json:
            typer.echo(as_json([_portable(run) for run in found]).encode())
        else:
            result_console().print(runs_table(found) if found else Text("no runs"))


def show_run(thread: str, *, db: str | None, json: bool) -> None:
    """Print a run: its plan, its executions in their order with their verdicts, what it used and gave."""
    with _opened(db) as store:
        run = store.history.show(thread)
    with unwritten_exits():
        if json:
            typer.echo(as_json({**_portable(run.summary), "state": run.state}).encode())
            return
        result_console().print(story(run))
        if run.summary.question is not None:
            said = how_to_answer(run.summary.question, thread, store.where)
            result_console().print(Text(said), soft_wrap=True)


def delete_run(thread: str, *, db: str | None) -> None:
    """Delete a run."""
    with _opened(db) as store:
        store.history.delete(thread)
    _say(f"deleted {thread}")


def prune_runs(*, keep_last: int | None, older_than: float | None, db: str | None) -> None:
    """Delete runs that have ended, but those that are to be kept.

    Args:
        keep_last: So many of those that ended last are kept.
        older_than: Those stored in so many days are kept.
        db: Where; None for the user's file.
    """
    with _opened(db) as store:
        gone = store.history.prune(keep_last=keep_last, older_than=_days(older_than))
    for thread in gone:
        _say(f"deleted {thread}")
    if not gone:
        _say("nothing to delete")


@contextmanager
def _opened(db: str | None) -> Iterator[Store]:
    with bad_input_exits(), open_store(db) as store, reading():
        yield store


def _days(days: float | None) -> timedelta | None:
    if days is None or 0 <= days < _MOST_DAYS:
        return None if days is None else timedelta(days=days)
    raise ConfigurationError(f"older_than is {days!r}; give days, such as 30")


def _say(sentence: str) -> None:
    progress_console().print(Text(one_line(sentence, 5000)))


def _portable(run: RunSummary) -> Mapping[str, object]:
    return {
        **asdict(run),
        "started": None if run.started is None else run.started.isoformat(),
        "updated": run.updated.isoformat(),
    }
