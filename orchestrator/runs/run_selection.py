"""The summary of a stored run, and the selection of summaries: filters, order and pages. Pure functions."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, TypeAlias, TypedDict

from pydantic import AwareDatetime, Field

from orchestrator.runtime.settings_model import SettingsModel
from orchestrator.state.graph_state import STATUSES, UNDERWAY, StoredStatus
from orchestrator.state.records import Basis, Question
from orchestrator.state.usage import Usage


@dataclass(frozen=True, slots=True)
class RunSummary:
    """One line about a stored run.

    Attributes:
        thread_id: The thread.
        status: "waiting" if a question waits for a person; "planning" or "executing" if the run is under way;
            "interrupted" if no process runs it any more, so that ``resume`` continues it; "unreadable" if
            another version of this program stored it or it is broken.
        task: The task; empty if the run is unreadable.
        steps_done: Number of steps that were validated or passed over.
        steps_planned: Number of steps in the plan; 0 before there is a plan.
        started: Start time in UTC; None if it was not stored.
        updated: Time of the latest checkpoint in UTC; the year 1 if it cannot be read.
        question: The question for a person.
        usage: The usage of the run; None before there is a plan.
        basis: By what the success is known; None if the run did not succeed.
        judged_again: Whether the run failed because it could not be judged: ``resume`` judges it again.
    """

    thread_id: str
    status: StoredStatus
    task: str
    steps_done: int
    steps_planned: int
    started: AwareDatetime | None
    updated: AwareDatetime
    question: Question | None
    usage: Usage | None
    basis: Basis | None = None
    judged_again: bool = False

    @property
    def can_resume(self) -> bool:
        """Whether ``resume`` continues the run."""
        return self.judged_again or self.status in ("interrupted", "waiting")


class RunList(list[RunSummary]):
    """A page of summaries.

    Attributes:
        next: The ``cursor`` of the page after this one; None on the last.
    """

    next: str | None = None


_Text: TypeAlias = Annotated[str | None, Field(description="a part of the text, or None")]


@dataclass(frozen=True, slots=True)
class IndexedRun:
    """A run in a list, with the latest checkpoint, which its summary was read from."""

    checkpoint_id: str
    summary: RunSummary


class SelectedRuns(TypedDict, total=False):
    """The arguments of ``History.runs``."""

    status: StoredStatus | None
    since: datetime | None
    task: str | None
    basis: Basis | None
    limit: int | None
    cursor: str | None


class RunSelection(SettingsModel):
    """Which runs are listed; see ``History.runs``."""

    status: Annotated[StoredStatus | None, Field(description=f"one of {', '.join(STATUSES)}, or None")] = None
    since: Annotated[AwareDatetime | None, Field(description="a time with its zone, or None")] = None
    task: _Text = None
    basis: Basis | None = None
    limit: Annotated[int | None, Field(ge=0, description="a whole number of at least 0, or None")] = None
    cursor: Annotated[str | None, Field(description="`next` of the page before, or None")] = None

    def matches(self, run: RunSummary) -> bool:
        """Checks whether a run is selected."""
        return (
            self.status in (None, run.status)
            and (self.since is None or run.updated >= self.since)
            and (self.task or "").casefold() in run.task.casefold()
            and self.basis in (None, run.basis)
        )

    def list_statuses(self) -> tuple[StoredStatus, ...]:
        """Lists the statuses that the rows of the selected runs have; empty for any."""
        if self.status in {*UNDERWAY, "interrupted"}:
            return ("planning", "executing")  # locks tell them apart
        return () if self.status is None else (self.status,)
