"""Lists, shows and deletes the runs of a store."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import chain, islice
from typing import Final, cast

from langgraph.checkpoint.base import CheckpointTuple

from orchestrator.errors import BrokenRunError, StoreError
from orchestrator.runs.arguments import Retention, RunFilter
from orchestrator.runs.index import (
    LatestCheckpoint,
    RunSaver,
    checkpoint_config,
    describe_unknown_thread,
    read_command,
)
from orchestrator.runs.locks import lock_for_delete
from orchestrator.runs.reader import Reader, is_run, version_problem
from orchestrator.runs.summary import (
    ENDED,
    RunSummary,
    StoredStatus,
    unreadable_summary,
)
from orchestrator.settings import check_thread_id
from orchestrator.state.graph_state import OrchestratorState
from orchestrator.state.plain_values import format_repr
from orchestrator.state.records import StepRecord
from orchestrator.state.stored_form import convert_read_errors

BASELINE_RUNS: Final = 20
"""Number of earlier reports that a step is compared with: enough for a band, and read in a moment."""


@dataclass(frozen=True, slots=True)
class StoredRun:
    """A stored run with its state.

    Attributes:
        summary: The run in one line.
        state: As ``run`` returns it. For parallel steps under way, ``results`` has their results so far; for
            an answer under way, ``synthesis`` has its attempts. Other fields change when these have ended.
    """

    summary: RunSummary
    state: OrchestratorState

    @property
    def time_line(self) -> list[StepRecord]:
        """The executions in the order in which they began, the answer's last, with verdicts and usage."""
        # Sequential steps are in order already, whatever the clock did. Times are ISO 8601 in UTC.
        if self.state["declared"]["needs"] is None:
            return [*self.state["results"], *self.state["synthesis"]]
        steps = sorted(self.state["results"], key=lambda record: record["started_at"])
        return [*steps, *self.state["synthesis"]]


class History:
    """The runs in a store."""

    def __init__(self, saver: RunSaver, name: str) -> None:
        """Takes the saver of the store, and the name of the store for messages."""
        self._saver = saver
        self._name = name
        self._reader = Reader(saver)

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
        RunFilter(status=status, since=since, task=task, limit=limit)
        text = "" if task is None else task.casefold()
        matches = (
            run
            for _, run in self._list_runs()
            if status in (None, run.status)
            and text in run.task.casefold()
            and (since is None or run.updated >= since)
        )
        return list(islice(matches, limit))

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
            if problem := version_problem(thread_id, checkpoint):
                raise StoreError(problem)
            summary, state = self._reader.read_run(thread_id, checkpoint)
            summary = self._mark_interrupted(summary)
        question = summary.question or state["question"]
        return StoredRun(summary, {**state, "task": summary.task, "question": question})

    def command(self, thread_id: str) -> Mapping[str, object] | None:
        """Returns the command that ``Store.keep`` stored with a run, or None.

        Raises:
            StoreError: There is no such run, or the store cannot be read.
        """
        metadata = cast("Mapping[str, object]", self._read_checkpoint(thread_id).metadata)
        with convert_read_errors(thread_id):
            return read_command(metadata)

    def baseline(self, task: str, step: str) -> Mapping[str, object] | None:
        """Returns the reports of a step in the latest successful runs of a task, to compare a new run with.

        It fits ``EvaluationOptions(baseline=store.history.baseline)``.

        Args:
            task: The whole task; only runs of exactly this task count.
            step: The text of the step.

        Returns:
            ``{"runs": [report, ...]}`` with at most ``BASELINE_RUNS`` reports, the latest last; None if no
            run has any.

        Raises:
            StoreError: The store cannot be read.
        """
        runs = (run for _, run in self._list_runs() if run.status == "success" and run.task == task)
        every = chain.from_iterable(_find_reports(self.show(run.thread_id).state, step) for run in runs)
        reports = [*islice(every, BASELINE_RUNS)]
        return {"runs": reports[::-1]} if reports else None

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
        self,
        *,
        keep_last: int | None = None,
        older_than: timedelta | None = None,
        confirm: Callable[[Sequence[str]], bool] | None = None,
    ) -> list[str]:
        """Deletes runs that have ended. Runs that wait, are under way or were cut off are kept.

        Args:
            keep_last: Number of ended runs to keep, the latest first.
            older_than: Keep runs that were stored within this time. With both options, a run is kept if
                either option keeps it.
            confirm: Called with the threads to delete, if there are any; returns whether to delete them.

        Returns:
            The threads that were deleted.

        Raises:
            ConfigurationError: Both retention arguments are missing, or one is not accepted.
            StoreError: The store cannot be read or written.
        """
        Retention(keep_last=keep_last, older_than=older_than)
        now, age = datetime.now(UTC), timedelta.min if older_than is None else older_than
        ended = [(latest, run) for latest, run in self._list_runs() if run.status in ENDED]
        old = [latest for latest, run in ended[keep_last or 0 :] if now - run.updated > age]
        if confirm is not None and not (old and confirm([latest.thread_id for latest in old])):
            return []
        return [latest.thread_id for latest in old if self._delete_unchanged(latest)]

    def _delete_unchanged(self, latest: LatestCheckpoint) -> bool:
        """Deletes a thread, unless a new run on it has begun meanwhile."""
        with lock_for_delete(self._saver.locks, latest.thread_id, wait=False) as is_locked:
            now_latest = self._saver.get_tuple(checkpoint_config(latest.thread_id)) if is_locked else None
            if now_latest is None or now_latest.checkpoint["id"] != latest.checkpoint_id:
                return False
            self._saver.delete_thread(latest.thread_id)
            return True

    def _list_runs(self) -> Iterator[tuple[LatestCheckpoint, RunSummary]]:
        for latest in self._saver.list_latest():
            summary = self._read_summary(latest.thread_id, latest.checkpoint_id)
            if summary is not None:
                yield latest, summary

    def _read_summary(self, thread_id: str, checkpoint_id: str | None = None) -> RunSummary | None:
        """Reads a summary, or None if the thread is not a run or was deleted meanwhile."""
        try:
            with convert_read_errors(thread_id):
                checkpoint = self._saver.get_tuple(checkpoint_config(thread_id, checkpoint_id=checkpoint_id))
                summary = None if checkpoint is None else self._reader.read_summary(thread_id, checkpoint)
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


def _find_reports(state: OrchestratorState, step: str) -> list[Mapping[str, object]]:
    """Returns the reports of the accepted executions of a step, the latest first."""
    records = [record for record in [*state["results"], *state["synthesis"]] if record["step"] == step]
    accepted = [record["report"] for record in reversed(records) if record["status"] == "validated"]
    return [report for report in accepted if report is not None]
