"""What a watcher of a run sees: frozen, without a clock of its own."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Literal

from orchestrator.cli.view.text import decision
from orchestrator.runtime.events import (
    Event,
    Planned,
    Replanned,
    RunFinished,
    RunPaused,
    RunResumed,
    RunStarted,
    StepExecuted,
    StepJudged,
    StepStarted,
)
from orchestrator.state.graph_state import (
    NO_USAGE,
    OrchestratorState,
    Question,
    RecordStatus,
    RunStatus,
    StepRecord,
    Usage,
)
from orchestrator.state.usage import add_usage

StepPhase = Literal[
    "waiting",
    "running",
    "judging",
    "asking",
    "validated",
    "failed",
    "needs_review",
    "warning",
    "given_up",
]


@dataclass(frozen=True, slots=True)
class StepView:
    """A step of the plan.

    Attributes:
        text: What is to be done.
        phase: How far it is.
        attempt: The latest execution, from 1; 0 before the first.
        spent: By attempt, what it and its judging used.
        since: When its latest event came.
    """

    text: str
    phase: StepPhase = "waiting"
    attempt: int = 0
    spent: Mapping[int, Usage] = field(default_factory=dict)
    since: float = 0.0

    @property
    def usage(self) -> Usage:
        """Of all its executions and their judging."""
        return reduce(add_usage, self.spent.values(), NO_USAGE)

    @property
    def busy(self) -> bool:
        """Whether it is being worked on."""
        return self.phase in ("running", "judging")

    @property
    def done(self) -> bool:
        """Whether its output stands."""
        return self.phase in ("validated", "warning")


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
        question: What a person is asked, while the run waits.
        warnings: How many there are about steps that stand.
        started: When the run began or went on, in seconds of the caller's clock.
        since: When the latest event came.
    """

    task: str = ""
    steps: tuple[StepView, ...] = ()
    status: RunStatus = "planning"
    usage: Usage = field(default_factory=lambda: NO_USAGE)
    word: Word | None = None
    question: Question | None = None
    warnings: int = 0
    started: float = 0.0
    since: float = 0.0

    @property
    def done(self) -> int:
        """Steps whose output stands."""
        return sum(step.done for step in self.steps)

    @property
    def wanted(self) -> int:
        """Steps that were not given up."""
        return sum(step.phase != "given_up" for step in self.steps)

    @property
    def over(self) -> bool:
        """Whether nothing goes on any more: the run has ended, or waits."""
        return self.status in ("success", "failed") or self.question is not None


def fold(view: View, event: Event, now: float) -> View:
    """The view after an event that came at ``now`` (seconds)."""
    return _folded(replace(view, since=now), event)


def _folded(view: View, event: Event) -> View:
    match event:
        case RunStarted():
            return View(task=event.task, started=view.since, since=view.since)
        case RunResumed():
            return _resumed(event.state, view.since)
        case RunPaused():
            return replace(_as_stored(view, event.state), question=event.question)
        case RunFinished():
            return replace(_as_stored(view, event.state), usage=event.state["usage"])
        case _:
            return _of_a_plan(view, event)


def _of_a_plan(view: View, event: Event) -> View:
    match event:
        case Planned():
            steps = tuple(StepView(text) for text in event.plan)
            return replace(view, steps=steps, status="executing", usage=event.usage)
        case Replanned():
            return _replanned(view, event)
        case StepStarted():
            step = replace(view.steps[event.step_index], phase="running", attempt=event.attempt)
            return _with_step(view, event.step_index, step)
        case StepExecuted():
            return _executed(view, event.record)
        case StepJudged():
            return _judged(view, event)
        case _:
            return view


def _resumed(state: OrchestratorState, now: float) -> View:
    latest = state["results"][-1] if state["results"] else None
    steps = tuple(StepView(text) for text in state["plan"])
    view = View(task=state["task"], steps=steps, usage=state["usage"], started=now, since=now)
    for record in state["results"]:
        view = _with_step(view, record["step_index"], _after(view, record), record)
    word = None if latest is None else _word(latest, "")
    return replace(_as_stored(view, state), usage=state["usage"], word=word)


def _replanned(view: View, event: Replanned) -> View:
    new = (StepView(text) for text in event.plan[len(view.steps) :])
    steps = _put((*view.steps, *new), event.replaced, "given_up")
    return replace(view, steps=steps, usage=event.usage)


def _executed(view: View, record: StepRecord) -> View:
    return _with_step(view, record["step_index"], _after(view, record), record)


def _judged(view: View, event: StepJudged) -> View:
    record = event.record
    step = _after(view, record)
    warnings = view.warnings + (len(record["warnings"]) if step.done else 0)
    judged = _with_step(view, record["step_index"], step, record)
    return replace(judged, word=_word(record, event.verdict["feedback"]), warnings=warnings)


def _word(record: StepRecord, feedback: str) -> Word:
    return Word(record["step_index"], record["attempt"], record["status"], decision(record) or feedback)


def _after(view: View, record: StepRecord) -> StepView:
    """The step of an execution after it."""
    step, status = view.steps[record["step_index"]], record["status"]
    phase: StepPhase = "judging" if status == "pending_validation" else status
    return replace(step, phase=phase, attempt=max(step.attempt, record["attempt"]))


def _as_stored(view: View, state: OrchestratorState) -> View:
    """The view of a run that ended or waits: of steps without an event, the state says what they came to."""
    settled = _settled(state["results"])
    over, question = state["status"] in ("success", "failed"), state["question"]
    known = (_known(step, settled.get(at), over=over) for at, step in enumerate(view.steps))
    steps = _put(known, state["replaced"], "given_up")
    asked = () if question is None else (question["step_index"],)
    shown = _put(steps, asked, "asking")
    return replace(view, steps=shown, status=state["status"], warnings=len(state["warnings"]))


def _known(step: StepView, settled: StepPhase | None, *, over: bool) -> StepView:
    if step.busy and not over:
        return step
    return replace(step, phase=settled or ("failed" if step.busy else step.phase))


def _settled(records: Iterable[StepRecord]) -> dict[int, StepPhase]:
    """By step, what its executions came to: what stands, else the latest."""
    found: dict[int, StepPhase] = {}
    for record in records:
        index, status = record["step_index"], record["status"]
        if status != "pending_validation" and found.get(index) not in ("validated", "warning"):
            found[index] = status
    return found


def _put(steps: Iterable[StepView], at: Collection[int], phase: StepPhase) -> tuple[StepView, ...]:
    return tuple(replace(step, phase=phase) if index in at else step for index, step in enumerate(steps))


def _with_step(view: View, index: int, step: StepView, record: StepRecord | None = None) -> View:
    """The view with a step that an event changed; what an execution used counts once, however often told."""
    usage = view.usage
    if record is not None:
        attempt, used = record["attempt"], _used(record)
        usage = add_usage(usage, _further(used, step.spent.get(attempt, NO_USAGE)))
        step = replace(step, spent={**step.spent, attempt: used})
    changed = replace(step, since=view.since)
    return replace(view, steps=(*view.steps[:index], changed, *view.steps[index + 1 :]), usage=usage)


def _used(record: StepRecord) -> Usage:
    return add_usage(record["usage"], record["judge_usage"] or NO_USAGE)


def _further(now: Usage, before: Usage) -> Usage:
    """What was used since; the first holds what the second holds."""
    return Usage(
        model_calls=now["model_calls"] - before["model_calls"],
        failed_model_calls=now["failed_model_calls"] - before["failed_model_calls"],
        input_tokens=_less(now, before, "input_tokens"),
        output_tokens=_less(now, before, "output_tokens"),
        total_tokens=_less(now, before, "total_tokens"),
        token_source=now["token_source"],
        cost_usd=None,
        latency_ms=now["latency_ms"] - before["latency_ms"],
    )


def _less(
    now: Usage, before: Usage, name: Literal["input_tokens", "output_tokens", "total_tokens"]
) -> int | None:
    total = now[name]
    return None if total is None else total - (before[name] or 0)
