"""Lists, shows and deletes the runs of a store."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Annotated, TypeAlias

from langgraph.checkpoint.base import CheckpointTuple
from pydantic import AwareDatetime, Field

from orchestrator.errors import BrokenRunError, ConfigurationError, StoreError
from orchestrator.runs.reader import (
    ENDED,
    STATUSES,
    RunList,
    RunSummary,
    StoredRun,
    StoredStatus,
    is_run,
    read_run,
    read_summary,
    unreadable_summary,
)
from orchestrator.runs.run_saver import (
    COMMAND,
    RunSaver,
    checkpoint_config,
    describe_unknown_thread,
    lock_for_delete,
)
from orchestrator.runtime.settings_model import SettingsModel
from orchestrator.settings import check_thread_id
from orchestrator.state.plain_values import format_repr
from orchestrator.state.stored_form import convert_read_errors, schema_problem

_Count: TypeAlias = Annotated[int | None, Field(ge=0, description="a whole number of at least 0, or None")]


class _Selection(SettingsModel):
    """The arguments that select runs of a list."""

    status: Annotated[StoredStatus | None, Field(description=f"one of {', '.join(STATUSES)}, or None")] = None
    since: Annotated[AwareDatetime | None, Field(description="a time with its zone, or None")] = None
    task: Annotated[str | None, Field(description="a part of the task's text, or None")] = None
    limit: _Count = None
    keep_last: _Count = None
    older_than: Annotated[
        timedelta | None, Field(ge=timedelta(0), description="a timedelta of at least 0, or None")
    ] = None


class History:
    """The runs in a store."""

    def __init__(self, saver: RunSaver, name: str) -> None:
        """Takes the saver of the store, and the name of the store for messages."""
        self._saver = saver
        self._name = name

    def runs(
        self,
        *,
        status: StoredStatus | None = None,
        since: datetime | None = None,
        task: str | None = None,
        limit: int | None = None,
    ) -> list[RunSummary]:
        """Lists runs, the latest stored first.

        Args:
            status: Only runs with this status.
            since: Only runs stored at this time or later; with a time zone.
            task: Only runs whose task contains this text. Case is ignored.
            limit: Maximum number of runs.

        Raises:
            ConfigurationError: An argument is not accepted.
            StoreError: The store cannot be read.
        """
        _Selection(status=status, since=since, task=task, limit=limit)
        text = "" if task is None else task.casefold()
        matches = (
            run
            for _, run in self._list_runs()
            if status in (None, run.status)
            and text in run.task.casefold()
            and (since is None or run.updated >= since)
        )
        return RunList(islice(matches, limit))

    def find(self, thread_id: str) -> RunSummary | None:
        """Returns the summary of a run, or None if there is no such run.

        Raises:
            ConfigurationError: The thread id is not accepted.
            StoreError: The store cannot be read.
        """
        check_thread_id(thread_id)
        return self._read_summary(thread_id)

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
            summary = self._mark_interrupted(summary)
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
        _Selection(keep_last=keep_last, older_than=older_than)
        now, age = datetime.now(UTC), timedelta.min if older_than is None else older_than
        ended = [(checkpoint_id, run) for checkpoint_id, run in self._list_runs() if run.status in ENDED]
        old = [
            (run.thread_id, checkpoint_id)
            for checkpoint_id, run in ended[keep_last or 0 :]
            if now - run.updated > age
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

    def _list_runs(self) -> Iterator[tuple[str, RunSummary]]:
        """Yields the runs with the ids of their latest checkpoints."""
        for thread_id, checkpoint_id in self._saver.list_latest():
            summary = self._read_summary(thread_id, checkpoint_id)
            if summary is not None:
                yield checkpoint_id, summary

    def _read_summary(self, thread_id: str, checkpoint_id: str | None = None) -> RunSummary | None:
        """Reads a summary, or None if the thread is not a run or was deleted meanwhile."""
        try:
            with convert_read_errors(thread_id):
                checkpoint = self._saver.get_tuple(checkpoint_config(thread_id, checkpoint_id=checkpoint_id))
                summary = None if checkpoint is None else read_summary(self._saver, thread_id, checkpoint)
                return None if summary is None else self._mark_interrupted(summary)
        except BrokenRunError:
            return unreadable_summary(thread_id, None)

    def _mark_interrupted(self, run: RunSummary) -> RunSummary:
        """Returns the summary as "interrupted" if the run is unfinished and no process runs it."""
        is_open = run.status in ("planning", "executing")
        if not is_open or self._saver.locks.is_locked(run.thread_id):
            return run
        return replace(run, status="interrupted")

    def _read_checkpoint(self, thread_id: str) -> CheckpointTuple:
        check_thread_id(thread_id)
        with convert_read_errors(thread_id):
            checkpoint = self._saver.get_tuple(checkpoint_config(thread_id))
            if checkpoint is not None and is_run(checkpoint):
                return checkpoint
        raise StoreError(describe_unknown_thread(thread_id, self._name))
