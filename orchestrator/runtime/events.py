"""What happens in a run, as frozen records: for hooks, live views and ``stream``."""

from __future__ import annotations

from dataclasses import dataclass

from orchestrator.state.graph_state import (
    OrchestratorState,
    Question,
    RunStatus,
    StepRecord,
    Usage,
    VerdictRecord,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Root of all events.

    Attributes:
        thread_id: Of the run it belongs to.
    """

    thread_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStarted(Event):
    """A run begins."""

    task: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned(Event):
    """The plan is made."""

    plan: tuple[str, ...]
    usage: Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class StepStarted(Event):
    """An execution begins; ``attempt`` counts from 1."""

    step_index: int
    step: str
    attempt: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StepExecuted(Event):
    """An execution ended, well or with an error; not yet judged."""

    record: StepRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class StepJudged(Event):
    """The monitor's word on an execution, or that it gave none."""

    record: StepRecord
    verdict: VerdictRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class StepRetried(Event):
    """A refused step will be executed again; ``attempt`` is the one to come."""

    step_index: int
    attempt: int
    feedback: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Replanned(Event):
    """The rest of the task is planned anew: ``plan`` is the whole, of which ``replaced`` was given up."""

    plan: tuple[str, ...]
    replaced: tuple[int, ...]
    usage: Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResumed(Event):
    """A run goes on; ``state`` is what it goes on from."""

    state: OrchestratorState


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPaused(Event):
    """A run waits for a person; ``state`` is what ``run`` returns, with the question."""

    question: Question
    state: OrchestratorState


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFinished(Event):
    """A run ended; ``state`` is what ``run`` returns."""

    status: RunStatus
    state: OrchestratorState
