"""Lists, shows and deletes the runs of a store, by an index with a row of each thread.

A row has the summary of a run, and a mark, which is empty if the row is right. A process that is about to
write to a thread sets a mark of its own. A reader reads the run of a marked row, stores the summary, and
takes the mark away if no process runs the thread and the mark is still the one it saw.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from itertools import islice
from typing import Annotated, Final, TypeAlias, TypedDict, Unpack

from langgraph.checkpoint.base import CheckpointTuple
from pydantic import Field

from orchestrator.errors import BrokenRunError, StoreError, StoreLostError
from orchestrator.runs.reader import RunSummary, StoredRun, is_run, read_run, read_summary, unreadable_summary
from orchestrator.runs.run_saver import (
    COMMAND,
    RunSaver,
    checkpoint_config,
    convert_read_errors,
    describe_unknown_thread,
    schema_problem,
)
from orchestrator.runtime.budget import SettingsModel
from orchestrator.settings import check_thread_id
from orchestrator.state.graph_state import STATUSES, UNDERWAY, StoredStatus
from orchestrator.state.plain_values import name_thread
from orchestrator.state.records import Basis

_PAGE: Final = 500
"""Rows that are read at once."""
_MARKED: Final = "SELECT thread_id, mark FROM orchestrator_runs WHERE mark <> '' ORDER BY thread_id"
"""In one order, so that two readers do not wait for each other."""
_MARK_OF: Final = "SELECT thread_id, mark FROM orchestrator_runs WHERE thread_id = ?"
_STORE: Final = """
    UPDATE orchestrator_runs SET mark = ?, checkpoint_id = ?, status = ?, type = ?, summary = ?
    WHERE thread_id = ? AND mark = ?
"""
_REMOVE: Final = "DELETE FROM orchestrator_runs WHERE thread_id = ? AND mark = ?"


class History:
    """The runs in a store."""

    def __init__(self, saver: RunSaver, name: str) -> None:
        """Takes the saver of the store, and the name of the store for messages."""
        self._saver = saver
        self._name = name

    def runs(self, **selection: Unpack[SelectedRuns]) -> RunList:
        """Lists runs, the latest stored first.

        The list reads an index of the store, and only those runs anew that were written to since they were
        indexed. ``status`` is looked up; the other filters read the summaries of the index.

        Args:
            status: Only runs with this status.
            task: Only runs whose task contains this text. Case is ignored.
            basis: Only successes that rest on this: "checked", "judged", "approved" or "unverified".
            limit: Maximum number of runs.
            cursor: ``next`` of the page before. Runs that come, go or are stored again meanwhile move no
                other run to another page.

        Returns:
            A list with the attribute ``next``: the cursor of the page after it, None on the last.

        Raises:
            ConfigurationError: An argument is not accepted.
            StoreError: The store cannot be read.
        """
        chosen = RunSelection(**selection)
        most = None if chosen.limit is None else chosen.limit + 1
        found = [*islice(self._list_runs(chosen), most)]
        page = RunList(run for _, run in found[: chosen.limit])
        page.next = found[-2][0] if 1 < len(found) == most else None
        return page

    def find(self, thread_id: str) -> RunSummary | None:
        """Returns the summary of a run, or None if there is no such run.

        Raises:
            ConfigurationError: The thread id is not accepted.
            StoreError: The store cannot be read.
        """
        check_thread_id(thread_id)
        run = self._read_run(thread_id)
        return None if run is None else self._find_interrupted(run[1])

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
            summary = self._find_interrupted(summary)
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
        if not self._saver.locks.acquire(thread_id, wait=True):
            raise StoreError(
                f"{name_thread(thread_id)} is being run, by this process or another; "
                "stop it or wait for its end"
            )
        try:
            self._saver.delete_thread(thread_id)
        finally:
            self._saver.locks.release(thread_id)
        self.store_summary(thread_id)

    def _read_checkpoint(self, thread_id: str) -> CheckpointTuple:
        check_thread_id(thread_id)
        if (checkpoint := self._find_checkpoint(thread_id)) is None:
            raise StoreError(describe_unknown_thread(thread_id, self._name))
        return checkpoint

    def _find_checkpoint(self, thread_id: str) -> CheckpointTuple | None:
        """Finds the latest checkpoint of a thread; None if the thread is not a run."""
        with convert_read_errors(thread_id):
            checkpoint = self._saver.get_tuple(checkpoint_config(thread_id))
            return checkpoint if checkpoint is not None and is_run(checkpoint) else None

    def store_summary(self, thread_id: str) -> None:
        """Stores the summary of a run that has stopped. Without it, the next list reads the run."""
        with suppress(StoreError):  # the run has ended, and its end is stored
            marked = self._saver.select(_MARK_OF, (thread_id,))
            self._update_rows([(name, mark) for name, mark in marked if mark])

    def _list_runs(self, selection: RunSelection) -> Iterator[IndexedRun]:
        """Yields the selected runs. Those whose rows are marked are read anew."""
        cursor, statuses = selection.cursor, selection.list_statuses()
        # Without a status, an index has the order; a list of all statuses would sort the rows.
        where = f"status IN ({', '.join('?' * len(statuses))})" if statuses else "status <> ''"
        self._update_rows(self._saver.select(_MARKED, ()))
        while True:
            after = "" if cursor is None else "AND checkpoint_id < ?"
            rows = self._saver.select(
                "SELECT checkpoint_id, type, summary FROM orchestrator_runs "  # noqa: S608
                f"WHERE {where} {after} ORDER BY checkpoint_id DESC LIMIT {_PAGE}",
                [*statuses, *(() if cursor is None else [cursor])],
            )
            for checkpoint_id, kind, data in rows:
                run = self._find_interrupted(RunSummary(**self._saver.serde.loads_typed((kind, data))))
                if selection.matches(run):
                    yield checkpoint_id, run
            if len(rows) < _PAGE:
                return
            cursor = rows[-1][0]

    def _find_interrupted(self, run: RunSummary) -> RunSummary:
        """Returns the summary as "interrupted" if the run is unfinished and no process runs it."""
        is_left = run.status in UNDERWAY and not self._saver.locks.is_locked(run.thread_id)
        return replace(run, status="interrupted") if is_left else run

    def _update_rows(self, marked: Sequence[tuple[str, str]]) -> None:
        """Reads the runs of marked rows, and stores their summaries.

        Args:
            marked: The threads, each with the mark of its row.
        """
        # Locks first: a run that ends after this is read again with the next list.
        running = {thread_id for thread_id, _ in marked if self._saver.locks.is_locked(thread_id)}
        runs = [(self._read_run(thread_id), thread_id, mark) for thread_id, mark in marked]
        rows = [
            (*self._encode(run, is_running=thread_id in running, mark=mark), thread_id, mark)
            for run, thread_id, mark in runs
            if run is not None
        ]
        with suppress(StoreLostError):  # the user may lack the right to write
            self._saver.change(_STORE, rows)
            removed = [(name, mark) for run, name, mark in runs if run is None and name not in running]
            self._saver.change(_REMOVE, removed)

    def _read_run(self, thread_id: str) -> IndexedRun | None:
        """Reads a run without the index; None if the thread is not a run."""
        try:
            if (checkpoint := self._find_checkpoint(thread_id)) is None:
                return None
            with convert_read_errors(thread_id):
                return checkpoint.checkpoint["id"], read_summary(self._saver, thread_id, checkpoint)
        except BrokenRunError:
            return "", unreadable_summary(thread_id, None)

    def _encode(self, run: IndexedRun, *, is_running: bool, mark: str) -> tuple[object, ...]:
        """Returns the values of a row. A later version may read an unreadable run: its row stays marked."""
        checkpoint_id, summary = run
        is_final = not is_running and summary.status != "unreadable"
        kind, data = self._saver.serde.dumps_typed(asdict(summary))
        return ("" if is_final else mark, checkpoint_id, summary.status, kind, data)


class RunList(list[RunSummary]):
    """A page of summaries.

    Attributes:
        next: The ``cursor`` of the page after this one; None on the last.
    """

    next: str | None = None


IndexedRun: TypeAlias = tuple[str, RunSummary]
"""A run in a list, behind the latest checkpoint, which its summary was read from."""


class SelectedRuns(TypedDict, total=False):
    """The arguments of ``History.runs``."""

    status: StoredStatus | None
    task: str | None
    basis: Basis | None
    limit: int | None
    cursor: str | None


class RunSelection(SettingsModel):
    """Which runs are listed; see ``History.runs``."""

    status: Annotated[StoredStatus | None, Field(description=f"one of {', '.join(STATUSES)}, or None")] = None
    task: Annotated[str | None, Field(description="a part of the text, or None")] = None
    basis: Basis | None = None
    limit: Annotated[int | None, Field(ge=0, description="a whole number of at least 0, or None")] = None
    cursor: Annotated[str | None, Field(description="`next` of the page before, or None")] = None

    def matches(self, run: RunSummary) -> bool:
        """Checks whether a run is selected."""
        return (
            self.status in (None, run.status)
            and (self.task or "").casefold() in run.task.casefold()
            and self.basis in (None, run.basis)
        )

    def list_statuses(self) -> tuple[StoredStatus, ...]:
        """Lists the statuses that the rows of the selected runs have; empty for any."""
        if self.status in {*UNDERWAY, "interrupted"}:
            return ("planning", "executing")  # locks tell them apart
        return () if self.status is None else (self.status,)
