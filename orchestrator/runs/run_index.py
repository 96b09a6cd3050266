"""The index of a store: one row of each thread, by which runs are filtered and sorted without reading them.

A row has the summary of a run, and a mark, which is empty if the row is right. Whoever is about to write to a
thread sets a mark of its own. A reader reads the run of a marked row, stores the summary, and takes the mark
away if no process runs the thread and the mark is still the one it saw.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from typing import Final

from orchestrator.errors import BrokenRunError, StoreError, StoreLostError
from orchestrator.runs.reader import read_summary, unreadable_summary
from orchestrator.runs.run_saver import RunSaver, checkpoint_config
from orchestrator.runs.run_selection import IndexedRun, RunSelection, RunSummary
from orchestrator.state.graph_state import UNDERWAY
from orchestrator.state.stored_form import convert_read_errors

_PAGE: Final = 500
"""Rows that are read at once."""
_MARKED: Final = "SELECT thread_id, mark FROM orchestrator_runs WHERE mark <> '' ORDER BY thread_id"
"""In one order, so that two readers do not wait for each other."""
_MARK_OF: Final = "SELECT thread_id, mark FROM orchestrator_runs WHERE thread_id = ?"
_WAITING: Final = "SELECT count(*) FROM orchestrator_runs WHERE status = 'waiting' AND mark = ''"
_STORE: Final = """
    UPDATE orchestrator_runs SET mark = ?, checkpoint_id = ?, status = ?, type = ?, summary = ?
    WHERE thread_id = ? AND mark = ?
"""
_REMOVE: Final = "DELETE FROM orchestrator_runs WHERE thread_id = ? AND mark = ?"


class RunIndex:
    """Lists the runs of a store by its index."""

    def __init__(self, saver: RunSaver) -> None:
        """Takes the saver of the store."""
        self._saver = saver

    def count_waiting(self) -> int:
        """Counts the runs that wait by their rows; the row of a run that goes on is marked."""
        ((number,),) = self._saver.select(_WAITING, ())
        return int(number)

    def list_runs(self, selection: RunSelection) -> Iterator[IndexedRun]:
        """Yields the selected runs. Those whose rows are marked are read anew."""
        cursor, statuses = selection.cursor, selection.list_statuses()
        # Without a status, an index has the order; a list of all statuses would sort the rows.
        where = f"status IN ({', '.join('?' * len(statuses))})" if statuses else "status <> ''"
        self.update_rows(self._saver.select(_MARKED, ()))
        while True:
            after = "" if cursor is None else "AND checkpoint_id < ?"
            rows = self._saver.select(
                "SELECT checkpoint_id, type, summary FROM orchestrator_runs "  # noqa: S608
                f"WHERE {where} {after} ORDER BY checkpoint_id DESC LIMIT {_PAGE}",
                [*statuses, *(() if cursor is None else [cursor])],
            )
            for checkpoint_id, kind, data in rows:
                run = self.mark_interrupted(self._decode(kind, data))
                if selection.matches(run):
                    yield IndexedRun(checkpoint_id, run)
            if len(rows) < _PAGE:
                return
            cursor = rows[-1][0]

    def mark_interrupted(self, run: RunSummary) -> RunSummary:
        """Returns the summary as "interrupted" if the run is unfinished and no process runs it."""
        is_open = run.status in UNDERWAY
        if not is_open or self._saver.locks.is_locked(run.thread_id):
            return run
        return replace(run, status="interrupted")

    def update_rows(self, marked: Sequence[tuple[str, str]]) -> None:
        """Reads the runs of marked rows, and stores their summaries.

        Args:
            marked: The threads, each with the mark of its row.
        """
        # Locks first: a run that ends after this is read again with the next list.
        running = {thread_id for thread_id, _ in marked if self._saver.locks.is_locked(thread_id)}
        runs = [(self.read_run(thread_id), thread_id, mark) for thread_id, mark in marked]
        rows = [
            (*self._encode(run, is_running=thread_id in running, mark=mark), thread_id, mark)
            for run, thread_id, mark in runs
            if run is not None
        ]
        with suppress(StoreLostError):  # the user may lack the right to write
            self._saver.change(_STORE, rows)
            removed = [(name, mark) for run, name, mark in runs if run is None and name not in running]
            self._saver.change(_REMOVE, removed)

    def read_run(self, thread_id: str) -> IndexedRun | None:
        """Reads a run without the index; None if the thread is not a run."""
        try:
            with convert_read_errors(thread_id):
                checkpoint = self._saver.get_tuple(checkpoint_config(thread_id))
                summary = None if checkpoint is None else read_summary(self._saver, thread_id, checkpoint)
                if checkpoint is None or summary is None:
                    return None
                return IndexedRun(checkpoint.checkpoint["id"], summary)
        except BrokenRunError:
            return IndexedRun("", unreadable_summary(thread_id, None))

    def _encode(self, run: IndexedRun, *, is_running: bool, mark: str) -> tuple[object, ...]:
        """Returns the values of a row. A later version may read an unreadable run: its row stays marked."""
        is_final = not is_running and run.summary.status != "unreadable"
        kind, data = self._saver.serde.dumps_typed(asdict(run.summary))
        return ("" if is_final else mark, run.checkpoint_id, run.summary.status, kind, data)

    def _decode(self, kind: str, data: bytes) -> RunSummary:
        return RunSummary(**self._saver.serde.loads_typed((kind, data)))


def index_run(saver: object, thread_id: str) -> None:
    """Stores the summary of a run that has stopped. Without it, the next list reads the run."""
    if isinstance(saver, RunSaver):
        with suppress(StoreError):  # the run has ended, and its end is stored
            rows = saver.select(
                "SELECT thread_id, mark FROM orchestrator_runs WHERE thread_id = ?", (thread_id,)
            )
            RunIndex(saver).update_rows([(name, mark) for name, mark in rows if mark])
