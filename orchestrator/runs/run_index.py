"""The index of a store: one row of each thread, by which runs are filtered and sorted without reading them.

A row has the summary of a run, and a mark. Triggers of the database set the mark in the transaction of every
write to the thread, whichever program writes: the row is out of date. A reader puts a mark of its own, reads
the run, and stores its summary only if that mark is still there. The summary of a run that a process executes
is kept in memory, and holds as long as the row has that mark.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, replace
from heapq import merge
from typing import Final, NamedTuple

from pydantic import TypeAdapter, ValidationError

from orchestrator.errors import BrokenRunError, StoreError, StoreLostError
from orchestrator.runs.reader import read_summary, unreadable_summary
from orchestrator.runs.run_saver import RunSaver, checkpoint_config
from orchestrator.runs.run_selection import (
    IndexedRun,
    Place,
    RunList,
    RunSelection,
    RunSummary,
    fold_text,
    format_start,
)
from orchestrator.state.stored_form import convert_read_errors

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
        is_open = run.status in ("planning", "executing")
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
