"""The runs in a store: listed, shown, deleted."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final, cast

from langgraph.checkpoint.base import BaseCheckpointSaver, CheckpointTuple

from orchestrator.errors import BrokenRunError, ConfigurationError, StoreError
from orchestrator.runs.index import Head, command_in, indexed, place
from orchestrator.runs.locks import kept_from_runs
from orchestrator.runs.reader import Reader
from orchestrator.runs.summary import (
    ENDED,
    STATUSES,
    RunSummary,
    StoredStatus,
    is_run,
    problem_in,
    unreadable,
)
from orchestrator.settings import check_thread_id
from orchestrator.state.graph_state import OrchestratorState, StepRecord
from orchestrator.state.plain_values import plain_text

_NUL: Final = re.compile(r"(?<!\\)(\\\\)*\\u0000")
"""As JSON writes it: what stands behind an even number of backslashes."""


def check_filters(status: object, since: object, task: object, limit: object) -> None:
    """Refuse what runs cannot be filtered by.

    Raises:
        ConfigurationError: One of them, named with what is accepted.
    """
    if status is not None and status not in STATUSES:
        raise ConfigurationError(f"status is {status!r:.40}; give one of {', '.join(STATUSES)}, or None")
    if since is not None and (not isinstance(since, datetime) or since.tzinfo is None):
        raise ConfigurationError(f"since is {since!s:.40}; give a time with its zone, or None")
    if task is not None and not isinstance(task, str):
        raise ConfigurationError(f"task is {task!r:.40}; give a text, or None")
    _check_count("limit", limit)


def check_kept(command: object) -> None:
    """Refuse what cannot be kept with a run.

    Raises:
        ConfigurationError: Not JSON, or with texts that no database can hold.
    """
    try:
        written = json.dumps(command, allow_nan=False, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise ConfigurationError(f"command is no JSON ({error!s:.80}); give JSON values") from None
    if _NUL.search(written) or plain_text(written) != written:
        raise ConfigurationError("command holds a text with NUL or a surrogate; give one without")


def check_retention(keep_last: object, older_than: object) -> None:
    """Refuse what does not say which runs are kept.

    Raises:
        ConfigurationError: One of them, named with what is accepted.
    """
    if keep_last is None and older_than is None:
        raise ConfigurationError("prune() has nothing to go by; give keep_last, older_than or both")
    _check_count("keep_last", keep_last)
    if older_than is not None and (not isinstance(older_than, timedelta) or older_than < timedelta(0)):
        raise ConfigurationError(f"older_than is {older_than!s:.40}; give a timedelta of at least 0, or None")


def _check_count(name: str, value: object) -> None:
    if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 0):
        raise ConfigurationError(f"{name} is {value!r:.40}; give a whole number of at least 0, or None")


@dataclass(frozen=True, slots=True)
class StoredRun:
    """A stored run as a whole.

    Attributes:
        summary: It in a line.
        state: As ``run`` returns it. Of steps that run side by side its ``results`` hold what was done; all
            else of them comes into it when all have ended.
    """

    summary: RunSummary
    state: OrchestratorState

    @property
    def time_line(self) -> list[StepRecord]:
        """The executions in the order in which they began, each with its verdict and usage."""
        if self.state["declared"]["needs"] is None:  # one after the other, whatever the clock said meanwhile
            return list(self.state["results"])
        return sorted(self.state["results"], key=lambda record: datetime.fromisoformat(record["started_at"]))


class History:
    """The runs that a saver keeps.

    The savers of ``open_store`` find them by one query; of any other saver every checkpoint is read.
    """

    def __init__(self, saver: BaseCheckpointSaver[str], name: str = "this store") -> None:
        """Take any LangGraph saver with plain methods, and what it is called in messages."""
        self._saver = saver
        self._name = name
        self._index = indexed(saver)
        self._reader = Reader(saver)

    def runs(
        self,
        *,
        status: StoredStatus | None = None,
        since: datetime | None = None,
        task: str | None = None,
        limit: int | None = None,
    ) -> list[RunSummary]:
        """List runs, the one that was stored last first.

        Args:
            status: Only those.
            since: Only those stored at that time or later; with its zone.
            task: Only those whose task holds this text, in upper or lower case.
            limit: At most so many.

        Raises:
            ConfigurationError: An argument that is not accepted.
            StoreError: The store cannot be read.
        """
        check_filters(status, since, task, limit)
        wanted = "" if task is None else task.casefold()
        found: list[RunSummary] = []
        for one in self._summaries():
            if limit is not None and len(found) >= limit:
                break
            if status in (None, one.status) and wanted in one.task.casefold() and _is_since(one, since):
                found.append(one)
        return found

    def find(self, thread_id: str) -> RunSummary | None:
        """A run in a line; None where there is none of that name.

        Raises:
            StoreError: That is no name of a thread, or the store cannot be read.
        """
        _check_name(thread_id)
        try:
            found = self._saver.get_tuple(place(thread_id))
            return None if found is None else self._reader.line(thread_id, found)
        except BrokenRunError:
            return unreadable(thread_id, None)

    def show(self, thread_id: str) -> StoredRun:
        """A run as a whole.

        Raises:
            StoreError: There is no such run, another version stored it, or the store cannot be read.
        """
        found = self._found(thread_id)
        if problem := problem_in(thread_id, found):
            raise StoreError(problem)
        line, state = self._reader.summary(thread_id, found), self._reader.state(thread_id, found)
        return StoredRun(line, {**state, "task": line.task, "question": line.question or state["question"]})

    def command(self, thread_id: str) -> Mapping[str, object] | None:
        """What ``Store.keep`` kept with a run; None for nothing.

        Raises:
            StoreError: There is no such run, or the store cannot be read.
        """
        return command_in(cast("Mapping[str, object]", self._found(thread_id).metadata))

    def delete(self, thread_id: str) -> None:
        """Delete a run for good, whatever its status and also where it is broken, unless it is being run.

        Raises:
            StoreError: There is no such run, it is being run, or the store cannot be written.
        """
        with suppress(BrokenRunError):
            self._found(thread_id)
        with kept_from_runs(self._saver, thread_id, patient=True) as alone:
            if not alone:
                raise StoreError(
                    f"thread {thread_id!r:.80} is being run, by this process or another; "
                    "stop it or wait for its end"
                )
            self._saver.delete_thread(thread_id)

    def prune(self, *, keep_last: int | None = None, older_than: timedelta | None = None) -> list[str]:
        """Delete runs that have ended; never one that waits for a person, is under way or was cut off.

        Args:
            keep_last: So many of those that ended last stay.
            older_than: Those stored in this time stay. With both, whatever either keeps stays.

        Returns:
            The threads that were deleted.

        Raises:
            ConfigurationError: Neither is given, or one is not accepted.
            StoreError: The store cannot be read or written.
        """
        check_retention(keep_last, older_than)
        latest = _latest(older_than)
        ended = [(head, one) for head, one in self._lines() if one.status in ENDED]
        old = [head for head, one in ended[keep_last or 0 :] if one.updated < latest]
        return [head.thread_id for head in old if self._removed(head)]

    def _removed(self, head: Head) -> bool:
        """Delete a thread, unless something was added to it since, or is about to be."""
        with kept_from_runs(self._saver, head.thread_id, patient=False) as alone:
            return alone and self._index.remove(head)

    def _summaries(self) -> Iterator[RunSummary]:
        return (one for _, one in self._lines())

    def _lines(self) -> Iterator[tuple[Head, RunSummary]]:
        for head in self._index.heads():
            try:
                line = self._listed(head)
            except BrokenRunError:
                line = self._broken(head)
            if line is not None:
                yield head, line

    def _listed(self, head: Head) -> RunSummary | None:
        found = self._head(head)
        line = None if found is None else self._reader.line(head.thread_id, found)
        # Or deleted while it was read.
        return line if line is None or line.steps_planned or self._head(head) is not None else None

    def _broken(self, head: Head) -> RunSummary | None:
        """The line of a run that cannot be read; None where it was deleted while it was read."""
        with suppress(BrokenRunError):
            if self._head(head) is None:
                return None
        return unreadable(head.thread_id, None)

    def _head(self, head: Head) -> CheckpointTuple | None:
        return self._saver.get_tuple(place(head.thread_id, checkpoint_id=head.checkpoint_id))

    def _found(self, thread_id: str) -> CheckpointTuple:
        _check_name(thread_id)
        found = self._saver.get_tuple(place(thread_id))
        if found is None or not is_run(found):
            raise StoreError(f"thread {thread_id!r:.80} is not in {self._name}; give one that is")
        return found


def _check_name(thread_id: object) -> None:
    try:
        check_thread_id(thread_id)
    except ConfigurationError as error:
        raise StoreError(str(error).removesuffix(", or None for a new name")) from None


def _latest(older_than: timedelta | None) -> datetime:
    """The time before which a run has to be stored last to be deleted."""
    if older_than is None:
        return datetime.max.replace(tzinfo=UTC)
    try:
        return datetime.now(UTC) - older_than
    except OverflowError:  # longer than there are years
        return datetime.min.replace(tzinfo=UTC)


def _is_since(one: RunSummary, since: datetime | None) -> bool:
    return since is None or one.updated >= since
