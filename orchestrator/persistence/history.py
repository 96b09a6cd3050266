"""The runs in a store: listed, shown, deleted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import cast

from langgraph.checkpoint.base import BaseCheckpointSaver, CheckpointTuple
from langgraph.graph import START, StateGraph
from langgraph.types import Interrupt

from orchestrator.config import check_thread_id
from orchestrator.errors import BrokenRunError, ConfigurationError, StoreError
from orchestrator.nodes.branch import BRANCH
from orchestrator.persistence.beside import records_beside
from orchestrator.persistence.claims import kept_from_runs
from orchestrator.persistence.filters import check_filters, check_retention
from orchestrator.persistence.heads import Head, command_in, indexed, place
from orchestrator.persistence.held import (
    RunSummary,
    input_in,
    is_run,
    open_interrupts,
    problem_in,
    summary,
    unreadable,
    values_in,
)
from orchestrator.persistence.statuses import ENDED, StoredStatus
from orchestrator.resuming import question_of, state_in
from orchestrator.state import OrchestratorState, Question, StateUpdate, StepRecord, settle_records


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

    def show(self, thread_id: str) -> StoredRun:
        """A run as a whole.

        Raises:
            StoreError: There is no such run, another version stored it, or the store cannot be read.
        """
        found = self._found(thread_id)
        if problem := problem_in(thread_id, found):
            raise StoreError(problem)
        line = self._summary(thread_id, found)
        state = self._with_those_beside(state_in(self._values(found), 0), found)
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
                line = self._line(head)
            except BrokenRunError:
                line = unreadable(head.thread_id, None)
            if line is not None:
                yield head, line

    def _line(self, head: Head) -> RunSummary | None:
        found = self._head(head)
        if found is None or not is_run(found):  # deleted since, or another program's
            return None
        if problem_in(head.thread_id, found):
            return unreadable(head.thread_id, found)
        line = self._summary(head.thread_id, found)
        # Or deleted while it was read.
        return line if line.steps_planned or self._head(head) is not None else None

    def _head(self, head: Head) -> CheckpointTuple | None:
        return self._saver.get_tuple(place(head.thread_id, checkpoint_id=head.checkpoint_id))

    def _found(self, thread_id: str) -> CheckpointTuple:
        try:
            check_thread_id(thread_id)
        except ConfigurationError as error:
            raise StoreError(str(error)) from None
        found = self._saver.get_tuple(place(thread_id))
        if found is None or not is_run(found):
            raise StoreError(f"thread {thread_id!r:.80} is not in {self._name}; give one that is")
        return found

    def _summary(self, thread_id: str, found: CheckpointTuple) -> RunSummary:
        values = values_in(found)
        planned = [] if values["status"] == "planning" else self._planned(thread_id, found)
        question = next((self._question(found, planned, *one) for one in open_interrupts(found)), None)
        return summary(thread_id, found, question, planned)

    def _planned(self, thread_id: str, found: CheckpointTuple) -> list[str]:
        plan = self._index.planned(thread_id)
        if plan is None:  # it was not planned on this thread, as a fork; or was deleted this moment
            plan = self._values(found).get("plan")
        return plan if isinstance(plan, list) else []

    def _question(
        self, found: CheckpointTuple, planned: Sequence[str], task_id: str, interrupt: Interrupt
    ) -> Question:
        """What is asked; where steps run side by side, by the one that asks."""
        thread_id = found.config["configurable"]["thread_id"]
        branch = self._saver.get_tuple(place(thread_id, namespace=f"{BRANCH}:{task_id}"))
        state = state_in({**values_in(found), "plan": list(planned)}, 0)
        if branch is not None:
            beside = state_in({**values_in(branch), "task": state["task"]}, 0)
            state = {**beside, "plan": [planned[beside["underway"]["branch"] or 0]]}
        return question_of(interrupt, state)

    def _with_those_beside(self, state: OrchestratorState, found: CheckpointTuple) -> OrchestratorState:
        if state["status"] != "executing" or state["declared"]["needs"] is None:
            return state
        return {**state, "results": settle_records(state["results"], records_beside(self._saver, found))}

    def _values(self, found: CheckpointTuple) -> Mapping[str, object]:
        """The whole state, with what was added to it checkpoint by checkpoint."""
        graph = StateGraph(OrchestratorState)
        graph.add_node("read", _read)
        graph.add_edge(START, "read")
        held = graph.compile(checkpointer=self._saver).get_state(found.config).values
        return {**cast("Mapping[str, object]", held), **input_in(found)}


def _read(state: OrchestratorState) -> StateUpdate:  # noqa: ARG001 - as every node
    return {}


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
