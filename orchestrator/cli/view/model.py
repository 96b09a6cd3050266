"""The view of a run after each of its events: immutable, and without a clock of its own."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Literal

from orchestrator.cli.view.contract import list_requirements
from orchestrator.cli.view.records import describe_success, final_records
from orchestrator.runtime import events
from orchestrator.state.graph_state import OrchestratorState, RunStatus
from orchestrator.state.records import Question, RecordStatus, StepRecord
from orchestrator.state.usage import NO_USAGE, Usage, add_usage

StepPhase = Literal[
    "waiting", "running", "judging", "asking", "validated", "failed", "needs_review", "warning", "given_up"
]


@dataclass(frozen=True, slots=True)
class StepView:
    """One step of the plan.

    Attributes:
        text: The step as planned.
        phase: Its progress.
        attempt: Number of the latest execution, from 1; 0 before the first.
        attempts: Usage of each execution with its verdict, by attempt.
        since: Time of its latest event.
        is_answer: Whether it is the final answer, which is no step of the plan.
    """

    text: str
    phase: StepPhase = "waiting"
    attempt: int = 0
    attempts: Mapping[int, Usage] = field(default_factory=dict)
    since: float = 0.0
    is_answer: bool = False

    @property
    def usage(self) -> Usage:
        """Usage of all executions and verdicts."""
        return reduce(add_usage, self.attempts.values(), NO_USAGE)

    @property
    def is_busy(self) -> bool:
        """Whether an agent works on it."""
        return self.phase in ("running", "judging")

    @property
    def is_accepted(self) -> bool:
        """Whether the run continues with its output."""
        return self.phase in ("validated", "warning")


@dataclass(frozen=True, slots=True)
class View:
    """A run.

    Attributes:
        task: The task.
        steps: The plan; empty before planning.
        status: Status of the run.
        other_usage: Usage outside of the steps, such as planning.
        judged: The execution with the latest verdict.
        question: The question to a person, while the run waits for an answer.
        is_interrupted: Whether the run was interrupted.
        warnings: Number of warnings about accepted steps.
        requirements: One line for the checks of each output.
        basis: What the success rests on, in words.
        started: Time when the run started or resumed, in seconds of the caller's clock.
        since: Time of the latest event.
    """

    task: str = ""
    steps: tuple[StepView, ...] = ()
    status: RunStatus = "planning"
    other_usage: Usage = field(default_factory=lambda: NO_USAGE)
    judged: StepRecord | None = None
    question: Question | None = None
    is_interrupted: bool = False
    warnings: int = 0
    requirements: tuple[str, ...] = ()
    basis: str = ""
    started: float = 0.0
    since: float = 0.0

    @property
    def usage(self) -> Usage:
        """Usage of the whole run so far."""
        return reduce(add_usage, (step.usage for step in self.steps), self.other_usage)

    @property
    def steps_done(self) -> int:
        """Number of accepted steps."""
        return sum(step.is_accepted and not step.is_answer for step in self.steps)

    @property
    def steps_planned(self) -> int:
        """Number of steps that were not given up."""
        return sum(step.phase != "given_up" and not step.is_answer for step in self.steps)

    @property
    def is_over(self) -> bool:
        """Whether the run has ended, was interrupted or waits for an answer."""
        return self.is_interrupted or self.status in ("success", "failed") or self.question is not None


def update_view(view: View, event: events.Event, now: float) -> View:
    """Return the view after an event that came at ``now`` (seconds)."""
    return _apply_run_event(replace(view, since=now), event)


def _apply_run_event(view: View, event: events.Event) -> View:
    match event:
        case events.RunStarted():
            return View(task=event.task, started=view.since, since=view.since)
        case events.RunResumed():
            return _build_resumed_view(event.state, view.since)
        case events.RunPaused():
            return replace(_match_state(view, event.state), question=event.question)
        case events.RunInterrupted():
            return replace(_match_state(view, event.state), is_interrupted=True)
        case events.RunFinished():
            ended = replace(view, basis=describe_success(event.state))
            return _set_usage(_match_state(ended, event.state), event.state["usage"])
        case _:
            return _apply_step_event(view, event)


def _apply_step_event(view: View, event: events.Event) -> View:
    match event:
        case events.Planned():
            steps = tuple(map(StepView, event.plan))
            lines = tuple(list_requirements(event.derived))
            return replace(view, steps=steps, status="executing", other_usage=event.usage, requirements=lines)
        case events.Replanned():
            steps = (*view.steps, *map(StepView, event.plan[len(view.steps) :]))
            marked = _mark_steps(steps, event.replaced, "given_up")
            return _set_usage(replace(view, steps=marked), event.usage)
        case events.StepStarted():
            view = _add_answer(view, event.step_index)
            step = replace(view.steps[event.step_index], phase="running", attempt=event.attempt)
            return _replace_step(view, event.step_index, step)
        case events.StepExecuted():
            return _add_record(view, event.record)
        case events.StepJudged():
            return _add_verdict(view, event.record)
        case _:
            return view


def _build_resumed_view(state: OrchestratorState, now: float) -> View:
    lines = tuple(list_requirements(state["declared"].get("derived")))
    steps = tuple(map(StepView, state["plan"]))
    view = View(task=state["task"], steps=steps, requirements=lines, started=now, since=now)
    view = reduce(_add_record, [*state["results"], *state["synthesis"]], view)
    judged = state["results"][-1] if state["results"] else None
    return _set_usage(replace(_match_state(view, state), judged=judged), state["usage"])


def _add_verdict(view: View, record: StepRecord) -> View:
    changed = _add_record(view, record)
    is_accepted = changed.steps[record["step_index"]].is_accepted
    warnings = len(record["warnings"]) if is_accepted else 0
    return replace(changed, judged=record, warnings=view.warnings + warnings)


def _add_record(view: View, record: StepRecord) -> View:
    """Update the step of an execution, which is reported before and after its verdict."""
    view = _add_answer(view, record["step_index"])
    step, attempt, status = view.steps[record["step_index"]], record["attempt"], record["status"]
    usage = add_usage(record["usage"], record["judge_usage"] or NO_USAGE)
    changed = replace(
        step,
        phase="judging" if status == "pending_validation" else status,
        attempt=max(step.attempt, attempt),
        # By attempt, so that the second report replaces the first.
        attempts={**step.attempts, attempt: usage},
    )
    return _replace_step(view, record["step_index"], changed)


def _add_answer(view: View, index: int) -> View:
    """Add the final answer, whose index is the one after the last step."""
    if index < len(view.steps):
        return view
    return replace(view, steps=(*view.steps, StepView("the final answer", is_answer=True)))


def _replace_step(view: View, index: int, step: StepView) -> View:
    changed = replace(step, since=view.since)
    return replace(view, steps=(*view.steps[:index], changed, *view.steps[index + 1 :]))


def _match_state(view: View, state: OrchestratorState) -> View:
    """Match the steps to a stored state, which knows the outcome of steps whose events were not seen."""
    is_over, question = state["status"] in ("success", "failed"), state["question"]
    outcomes = {
        record["step_index"]: record["status"]
        for record in final_records([*state["results"], *state["synthesis"]])
    }
    steps = [_match_step(step, outcomes.get(index), is_over=is_over) for index, step in enumerate(view.steps)]
    replaced = _mark_steps(steps, state["replaced"], "given_up")
    marked = _mark_steps(replaced, () if question is None else (question["step_index"],), "asking")
    return replace(view, steps=marked, status=state["status"], warnings=len(state["warnings"]))


def _match_step(step: StepView, status: RecordStatus | None, *, is_over: bool) -> StepView:
    if step.is_busy and not is_over:  # a parallel step that works while another one waits for an answer
        return step
    if status is None or status == "pending_validation":
        return replace(step, phase="failed") if step.is_busy else step
    return replace(step, phase=status)


def _mark_steps(steps: Iterable[StepView], at: Collection[int], phase: StepPhase) -> tuple[StepView, ...]:
    return tuple(replace(step, phase=phase) if index in at else step for index, step in enumerate(steps))


def _set_usage(view: View, total: Usage) -> View:
    """Set the usage of the run to a total that includes the steps."""
    known = reduce(add_usage, (step.usage for step in view.steps), NO_USAGE)
    return replace(view, other_usage=_subtract_usage(total, known))


def _subtract_usage(total: Usage, part: Usage) -> Usage:
    """Subtract the amounts that the view shows."""
    tokens = total["total_tokens"]
    return {
        **total,
        "model_calls": total["model_calls"] - part["model_calls"],
        "total_tokens": None if tokens is None else tokens - (part["total_tokens"] or 0),
        "latency_ms": total["latency_ms"] - part["latency_ms"],
    }
