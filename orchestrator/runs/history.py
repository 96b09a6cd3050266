"""Lists, shows and deletes the runs of a store.

The index of a store has one row of each thread, by which runs are filtered and sorted without reading them. A
row has the summary of a run, and a mark. Triggers of the database set the mark in the transaction of every
write to the thread, whichever program writes: the row is out of date. A reader puts a mark of its own, reads
the run, and stores its summary only if that mark is still there. The summary of a run that a process executes
is kept in memory, and holds as long as the row has that mark.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, replace
from datetime import UTC, datetime, timedelta
from heapq import merge
from typing import Annotated, Final, NamedTuple, Unpack

from langgraph.checkpoint.base import CheckpointTuple
from pydantic import Field, TypeAdapter, ValidationError

from orchestrator.errors import BrokenRunError, ConfigurationError, StoreError, StoreLostError
from orchestrator.runs.reader import StoredRun, is_run, read_run, read_summary, unreadable_summary
from orchestrator.runs.run_saver import (
    COMMAND,
    RunSaver,
    checkpoint_config,
    describe_unknown_thread,
    lock_for_delete,
)
from orchestrator.runs.run_selection import (
    IndexedRun,
    Place,
    RunList,
    RunSelection,
    RunSummary,
    SelectedRuns,
    fold_text,
    format_start,
)
from orchestrator.runtime.settings_model import SettingsModel
from orchestrator.settings import check_thread_id
from orchestrator.state.graph_state import ENDED, UNDERWAY
from orchestrator.state.plain_values import format_repr
from orchestrator.state.stored_form import convert_read_errors, schema_problem

_PAGE: Final = 500
"""Rows that are read at once."""
_BATCH: Final = 50
"""Runs whose summaries are stored at once."""
_MOST_KEPT: Final = 1000
"""Runs under way whose summaries are kept in memory."""
_SUMMARY: Final = TypeAdapter(RunSummary)
_COLUMNS: Final = (
    *("checkpoint_id", "status", "started", "updated", "basis"),
    *("task", "models", "type", "summary"),
)
_CHANGED: Final = """
    SELECT thread_id, mark, (SELECT max(checkpoint_id) FROM checkpoints AS c
                             WHERE c.thread_id = r.thread_id AND c.checkpoint_ns = '')
    FROM orchestrator_runs AS r WHERE mark <> 0
"""
_WAITING: Final = "SELECT count(*) FROM orchestrator_runs WHERE status = 'waiting' AND mark = 0"
_CLAIM: Final = "UPDATE orchestrator_runs SET mark = ? WHERE thread_id = ? AND mark <> 0"
_STORE: Final = f"""
    UPDATE orchestrator_runs SET mark = 0, {", ".join(f"{name} = ?" for name in _COLUMNS)}
    WHERE thread_id = ? AND mark = ?
"""  # noqa: S608 - names of columns


class _Changed(NamedTuple):
    """A row that is out of date: its mark, and the latest checkpoint of its thread."""

    mark: int
    latest: str


class RunIndex:
    """Lists the runs of a store by its index."""

    def __init__(self, saver: RunSaver) -> None:
        """Takes the saver of the store."""
        self._saver = saver
        self._running: dict[str, tuple[int, IndexedRun]] = {}

    def list_page(self, selection: RunSelection) -> RunList:
        """Lists one page of runs."""
        page, last = RunList(), None
        for run in self.list_runs(selection):
            if len(page) == selection.limit:
                page.next = None if last is None else selection.write_cursor(last)
                break
            page.append(run.summary)
            last = run
        return page

    def count_waiting(self) -> int:
        """Counts the runs that wait by their rows; the row of a run that goes on is out of date."""
        self._saver.create_index()
        ((number,),) = self._saver.select(_WAITING, ())
        return int(number)

    def list_runs(self, selection: RunSelection) -> Iterator[IndexedRun]:
        """Yields the selected runs. Those whose rows are out of date are read anew."""
        cursor = selection.read_cursor()
        self._saver.create_index()
        rows = self._saver.select(_CHANGED, ())
        changed = {name: _Changed(mark, latest) for name, mark, latest in rows if latest is not None}
        stored = (run for run in self._list_rows(selection, cursor) if run.summary.thread_id not in changed)
        fresh = self._list_changed(selection, changed, cursor)
        for run in merge(stored, fresh, key=selection.find_place, reverse=selection.order == "desc"):
            summary = self.mark_interrupted(run.summary)
            if selection.matches(summary):
                yield replace(run, summary=summary)

    def mark_interrupted(self, run: RunSummary) -> RunSummary:
        """Returns the summary as "interrupted" if the run is unfinished and no process runs it."""
        is_open = run.status in UNDERWAY
        if not is_open or self._saver.locks.is_locked(run.thread_id):
            return run
        return replace(run, status="interrupted")

    def update_rows(self, changed: Mapping[str, _Changed]) -> list[IndexedRun]:
        """Reads runs and stores their summaries, or keeps those that a process runs at this moment."""
        running = {thread_id for thread_id in changed if self._saver.locks.is_locked(thread_id)}
        kept = {
            name: run
            for name, (mark, run) in self._running.items()
            if name in running and mark == changed[name].mark
        }
        mark = random.getrandbits(60) + 2  # tells two readers apart
        # Without the index the list is as right, and slower: the user may lack the right to write.
        with suppress(StoreLostError):
            self._saver.change(_CLAIM, [(mark, name) for name in sorted(changed.keys() - kept.keys())])
        runs = {name: kept.get(name) or self.read_run(name, each.latest) for name, each in changed.items()}
        self._keep({name: (mark, run) for name in running - kept.keys() if (run := runs[name]) is not None})
        rows = [self._encode_row(name, runs[name], mark) for name in sorted(changed.keys() - running)]
        with suppress(StoreLostError):
            self._saver.change(_STORE, [row for row in rows if row is not None])
        return [run for run in runs.values() if run is not None]

    def _keep(self, read: Mapping[str, tuple[int, IndexedRun]]) -> None:
        """Keeps the summaries of runs, and forgets those that were read the longest ago."""
        latest = {**{name: kept for name, kept in self._running.items() if name not in read}, **read}
        self._running = dict([*latest.items()][-_MOST_KEPT:])

    def read_run(self, thread_id: str, latest: str) -> IndexedRun | None:
        """Reads a run without the index; None if the thread is not a run or was deleted meanwhile.

        Args:
            thread_id: The thread.
            latest: The id of its latest checkpoint, for a run that is broken.
        """
        try:
            with convert_read_errors(thread_id):
                checkpoint = self._saver.get_tuple(checkpoint_config(thread_id))
                summary = None if checkpoint is None else read_summary(self._saver, thread_id, checkpoint)
                if checkpoint is None or summary is None:
                    return None
                return IndexedRun(checkpoint.checkpoint["id"], summary)
        except BrokenRunError:
            return IndexedRun(latest, unreadable_summary(thread_id, None))

    def _list_changed(
        self, selection: RunSelection, changed: Mapping[str, _Changed], cursor: Place | None
    ) -> Iterator[IndexedRun]:
        """Yields the runs whose rows are out of date, sorted by their updates without reading all."""
        is_desc, is_lazy = selection.order == "desc", selection.sort == "updated"
        places = {thread_id: (each.latest, each.latest) for thread_id, each in changed.items()}
        names = [name for name in places if not is_lazy or selection.is_beyond(places[name], cursor)]
        names.sort(key=lambda name: places[name], reverse=is_desc)
        batches = (names[start : start + _BATCH] for start in range(0, len(names), _BATCH))
        runs = (run for batch in batches for run in self.update_rows({name: changed[name] for name in batch}))
        if is_lazy:
            return runs
        beyond = [run for run in runs if selection.is_beyond(selection.find_place(run), cursor)]
        return iter(sorted(beyond, key=selection.find_place, reverse=is_desc))

    def _list_rows(self, selection: RunSelection, cursor: Place | None) -> Iterator[IndexedRun]:
        """Yields the runs of the rows that may be selected."""
        column = "checkpoint_id" if selection.sort == "updated" else "started"
        way, beyond = ("DESC", "<") if selection.order == "desc" else ("ASC", ">")
        conditions = [*selection.build_conditions(self._saver.CONTAINS)]
        while True:
            after = [] if cursor is None else [(f"({column}, checkpoint_id) {beyond} (?, ?)", cursor)]
            where = " AND ".join(condition for condition, _ in [*conditions, *after])
            rows = self._saver.select(
                f"SELECT thread_id, {column}, checkpoint_id, type, summary FROM orchestrator_runs "  # noqa: S608
                f"WHERE {where} ORDER BY {column} {way}, checkpoint_id {way} LIMIT {_PAGE}",
                [value for _, values in [*conditions, *after] for value in values],
            )
            runs = (self._decode_row(*row) for row in rows)
            yield from (run for run in runs if run is not None)
            if len(rows) < _PAGE:
                return
            cursor = (rows[-1][1], rows[-1][2])

    def _encode_row(self, thread_id: str, run: IndexedRun | None, mark: int) -> tuple[object, ...] | None:
        """Returns the values of a row, or None for an unreadable run, which a later version may read."""
        if run is None:
            return (*[""] * 4, *[None] * 5, thread_id, mark)
        summary = run.summary
        if summary.status == "unreadable":
            return None
        updated = summary.updated.isoformat(timespec="microseconds")
        times = {"started": format_start(summary) or None, "updated": updated}
        kind, data = self._saver.serde.dumps_typed({**asdict(summary), **times})
        # In an encrypted store these texts are in the summary alone.
        texts = (
            (None, None) if "+" in kind else (fold_text(summary.task), fold_text("\n".join(summary.models)))
        )
        columns = (run.checkpoint_id, summary.status, format_start(summary), updated, summary.basis)
        return (*columns, *texts, kind, data, thread_id, mark)

    def _decode_row(
        self, thread_id: str, _: str, checkpoint_id: str, kind: str, data: bytes
    ) -> IndexedRun | None:
        """Returns the run of a row. If the row is broken, reads the run."""
        with suppress(BrokenRunError, ValidationError):
            values = self._saver.serde.loads_typed((kind, data))
            # The values and not pydantic's copy, which lacks fields that this version does not know.
            run = _SUMMARY.validate_python(values)
            return IndexedRun(
                checkpoint_id,
                replace(run, thread_id=thread_id, usage=values["usage"], question=values["question"]),
            )
        return self.read_run(thread_id, checkpoint_id)


def index_run(saver: object, thread_id: str) -> None:
    """Stores the summary of a run that has stopped. Without it, the next list reads the run."""
    if isinstance(saver, RunSaver):
        with suppress(StoreError):  # the run has ended, and its end is stored
            saver.create_index()
            RunIndex(saver).update_rows({thread_id: _Changed(0, "")})


class _Retention(SettingsModel):
    """The arguments of ``prune``."""

    keep_last: Annotated[int | None, Field(ge=0, description="a whole number of at least 0, or None")] = None
    older_than: Annotated[
        timedelta | None, Field(ge=timedelta(0), description="a timedelta of at least 0, or None")
    ] = None


class History:
    """The runs in a store."""

    def __init__(self, saver: RunSaver, name: str) -> None:
        """Takes the saver of the store, and the name of the store for messages."""
        self._saver = saver
        self._name = name
        self._index = RunIndex(saver)

    def runs(self, **selection: Unpack[SelectedRuns]) -> RunList:
        """Lists runs, the latest stored first.

        The list reads an index of the store, and only those runs anew that were written to since they were
        indexed. In an encrypted store, ``task`` and ``model`` decrypt the summaries of all runs.

        Args:
            status: Only runs with this status.
            since: Only runs stored at this time or later; with a time zone.
            task: Only runs whose task contains this text. Case is ignored.
            model: Only runs that called a model whose name contains this text. Case is ignored.
            basis: Only successes that rest on this: "checked", "judged", "approved" or "unverified".
            limit: Maximum number of runs.
            cursor: ``next`` of the page before. Runs that come, go or are stored again meanwhile move no
                other run to another page.
            sort: "updated", by the latest checkpoint, or "started".
            order: "desc" for the latest first, or "asc".

        Returns:
            A list with the attribute ``next``: the cursor of the page after it, None on the last.

        Raises:
            ConfigurationError: An argument is not accepted.
            StoreError: The store cannot be read.
        """
        return self._index.list_page(RunSelection(**selection))

    def count_waiting(self) -> int:
        """Returns the number of runs that wait for an answer, without reading any of them.

        Raises:
            StoreError: The store cannot be read.
        """
        return self._index.count_waiting()

    def find(self, thread_id: str) -> RunSummary | None:
        """Returns the summary of a run, or None if there is no such run.

        Raises:
            ConfigurationError: The thread id is not accepted.
            StoreError: The store cannot be read.
        """
        check_thread_id(thread_id)
        run = self._index.read_run(thread_id, "")
        return None if run is None else self._index.mark_interrupted(run.summary)

    def show(self, thread_id: str) -> StoredRun:
        """Returns a run with its whole state.

        Raises:
            StoreError: There is no such run, another version stored it, or the store cannot be read.
        """
        checkpoint = self._read_checkpoint(thread_id)
        with convert_read_errors(thread_id):
            if problem := schema_problem(thread_id, checkpoint.metadata):
                raise StoreError(problem)
            summary, state = read_run(self._saver, thread_id, checkpoint)
            summary = self._index.mark_interrupted(summary)
        question = summary.question or state["question"]
        return StoredRun(summary, {**state, "task": summary.task, "question": question})

    def command(self, thread_id: str) -> Mapping[str, object] | None:
        """Returns the command that ``Store.keep`` stored with a run, or None.

        Raises:
            StoreError: There is no such run, or the store cannot be read.
        """
        command = self._read_checkpoint(thread_id).metadata.get(COMMAND)
        return command if isinstance(command, dict) else None

    def delete(self, thread_id: str) -> None:
        """Deletes a run of any status, even a broken one. A run under way is refused.

        Raises:
            StoreError: There is no such run, it is being run, or the store cannot be written.
        """
        with suppress(BrokenRunError):
            self._read_checkpoint(thread_id)
        with lock_for_delete(self._saver.locks, thread_id, wait=True) as is_locked:
            if not is_locked:
                raise StoreError(
                    f"thread {format_repr(thread_id, 80)} is being run, by this process or another; "
                    "stop it or wait for its end"
                )
            self._saver.delete_thread(thread_id)

    def prune(
        self, *, keep_last: int | None = None, older_than: timedelta | None = None, dry_run: bool = False
    ) -> list[str]:
        """Deletes runs that have ended. Runs that wait, are under way or were cut off are kept.

        Args:
            keep_last: Number of ended runs to keep, the latest first.
            older_than: Keep runs that were stored within this time. With both options, a run is kept if
                either option keeps it.
            dry_run: Whether the runs are only listed.

        Returns:
            The threads that were deleted, or would be.

        Raises:
            ConfigurationError: Both retention arguments are missing, or one is not accepted.
            StoreError: The store cannot be read or written.
        """
        if keep_last is None and older_than is None:
            raise ConfigurationError("neither keep_last nor older_than is given; give at least one of them")
        _Retention(keep_last=keep_last, older_than=older_than)
        now, age = datetime.now(UTC), timedelta.min if older_than is None else older_than
        ended = [run for run in self._index.list_runs(RunSelection()) if run.summary.status in ENDED]
        old = [
            (run.summary.thread_id, run.checkpoint_id)
            for run in ended[keep_last or 0 :]
            if now - run.summary.updated > age
        ]
        return [
            thread_id for thread_id, latest in old if dry_run or self._delete_unchanged(thread_id, latest)
        ]

    def _delete_unchanged(self, thread_id: str, checkpoint_id: str) -> bool:
        """Deletes a thread, unless a new run on it has begun meanwhile."""
        with lock_for_delete(self._saver.locks, thread_id, wait=False) as is_locked:
            latest = self._saver.get_tuple(checkpoint_config(thread_id)) if is_locked else None
            if latest is None or latest.checkpoint["id"] != checkpoint_id:
                return False
            self._saver.delete_thread(thread_id)
            return True

    def _read_checkpoint(self, thread_id: str) -> CheckpointTuple:
        check_thread_id(thread_id)
        with convert_read_errors(thread_id):
            checkpoint = self._saver.get_tuple(checkpoint_config(thread_id))
            if checkpoint is not None and is_run(checkpoint):
                return checkpoint
        raise StoreError(describe_unknown_thread(thread_id, self._name))
