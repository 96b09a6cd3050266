"""What a watcher of a run sees: folded from its events, frozen, without a clock of its own."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal

from orchestrator.events import (
    Event,
    Planned,
    RunFinished,
    RunStarted,
    StepExecuted,
    StepJudged,
    StepStarted,
)
from orchestrator.state import NO_USAGE, RecordStatus, RunStatus, StepRecord, Usage
from orchestrator.usage import add_usage

StepPhase = Literal["waiting", "running", "judging", "validated", "failed", "needs_review", "warning"]


@dataclass(frozen=True, slots=True)
class StepView:
    """A step of the plan.

    Attributes:
        text: What is to be done.
        phase: How far it is.
        attempt: The latest execution, from 1; 0 before the first.
        usage: Of all its executions and their judging.
    """

    text: str
    phase: StepPhase = "waiting"
    attempt: int = 0
    usage: Usage = field(default_factory=lambda: NO_USAGE)

    @property
    def busy(self) -> bool:
        """Whether it is being worked on."""
        return self.phase in ("running", "judging")


@dataclass(frozen=True, slots=True)
class Word:
    """The latest verdict."""

    step_index: int
    attempt: int
    status: RecordStatus
    feedback: str


@dataclass(frozen=True, slots=True)
class View:
    """A run.

    Attributes:
        task: What is to be done.
        steps: The plan; empty while there is none.
        status: Of the run.
        usage: Of everything so far.
        word: The latest verdict.
        started: When the run began, in seconds of the caller's clock.
        since: When the latest event came.
    """

    task: str = ""
    steps: tuple[StepView, ...] = ()
    status: RunStatus = "planning"
    usage: Usage = field(default_factory=lambda: NO_USAGE)
    word: Word | None = None
    started: float = 0.0
    since: float = 0.0

    @property
    def validated(self) -> int:
        """Steps that are done."""
        return sum(step.phase == "validated" for step in self.steps)

    @property
    def over(self) -> bool:
        """Whether the run has ended."""
        return self.status in ("success", "failed")


def fold(view: View, event: Event, now: float) -> View:
    """The view after an event that came at ``now`` (seconds)."""
    return _folded(replace(view, since=now), event)


def _folded(view: View, event: Event) -> View:
    match event:
        case RunStarted():
            view = View(task=event.task, started=view.since, since=view.since)
        case Planned():
            steps = tuple(StepView(text) for text in event.plan)
            view = replace(view, steps=steps, status="executing", usage=event.usage)
        case StepStarted():
            step = replace(view.steps[event.step_index], phase="running", attempt=event.attempt)
            view = _with_step(view, event.step_index, step, NO_USAGE)
        case StepExecuted():
            view = _executed(view, event.record)
        case StepJudged():
            view = _judged(view, event)
        case RunFinished():
            view = _finished(view, event)
    return view


def _executed(view: View, record: StepRecord) -> View:
    step = view.steps[record["step_index"]]
    phase: StepPhase = "judging" if record["status"] == "pending_validation" else "failed"
    return _with_step(view, record["step_index"], replace(step, phase=phase), record["usage"])


def _judged(view: View, event: StepJudged) -> View:
    record = event.record
    status, index = record["status"], record["step_index"]
    phase: StepPhase = "judging" if status == "pending_validation" else status
    step = replace(view.steps[index], phase=phase)
    word = Word(index, record["attempt"], status, event.verdict["feedback"])
    return replace(_with_step(view, index, step, record["judge_usage"] or NO_USAGE), word=word)


def _finished(view: View, event: RunFinished) -> View:
    steps = tuple(replace(step, phase="failed") if step.busy else step for step in view.steps)
    return replace(view, steps=steps, status=event.status, usage=event.state["usage"])


def _with_step(view: View, index: int, step: StepView, usage: Usage) -> View:
    spent = replace(step, usage=add_usage(step.usage, usage))
    steps = (*view.steps[:index], spent, *view.steps[index + 1 :])
    return replace(view, steps=steps, usage=add_usage(view.usage, usage))
