"""Made-up records and events, and a console that writes into a string."""

from __future__ import annotations

from io import StringIO

from rich.console import Console, RenderableType

from orchestrator.cli.view import View, fold
from orchestrator.events import (
    Event,
    Planned,
    RunFinished,
    RunStarted,
    StepExecuted,
    StepJudged,
    StepRetried,
    StepStarted,
)
from orchestrator.state import NO_USAGE, Failure, OrchestratorState, StepRecord, Usage, blank_state

THREAD = "thread"


def usage(tokens: int | None = 10, seconds: float = 1.0, calls: int = 1) -> Usage:
    return Usage(
        model_calls=calls,
        failed_model_calls=0,
        input_tokens=tokens,
        output_tokens=0 if tokens is not None else None,
        total_tokens=tokens,
        token_source="missing" if tokens is None else "measured",
        cost_usd=None,
        latency_ms=1000 * seconds,
    )


def record(step_index: int = 0, attempt: int = 1, **changes: object) -> StepRecord:
    made = StepRecord(
        step_index=step_index,
        step=f"step {step_index + 1}",
        attempt=attempt,
        result="the result",
        status="pending_validation",
        verdict=None,
        report=None,
        tool_calls=[],
        usage=usage(),
        judge_usage=None,
        started_at="2025-01-01T00:00:00+00:00",
        error=None,
    )
    return {**made, **changes}  # type: ignore[typeddict-item,return-value]


def state(**changes: object) -> OrchestratorState:
    made = {**blank_state("the task", 2), "plan": ["step 1", "step 2"], "usage": usage(40, 4.0, 4)}
    return {**made, **changes}  # type: ignore[typeddict-item,return-value]


def failure(kind: str = "cancelled", message: str = "interrupted") -> Failure:
    return {"kind": kind, "message": message, "step_index": None, "error_type": None}  # type: ignore[typeddict-item]


def run_started(task: str = "the task") -> RunStarted:
    return RunStarted(thread_id=THREAD, task=task)


def planned(*steps: str, spent: Usage = NO_USAGE) -> Planned:
    return Planned(thread_id=THREAD, plan=steps or ("step 1", "step 2"), usage=spent)


def step_started(step_index: int = 0, attempt: int = 1) -> StepStarted:
    return StepStarted(
        thread_id=THREAD, step_index=step_index, step=f"step {step_index + 1}", attempt=attempt
    )


def executed(step_index: int = 0, attempt: int = 1, **changes: object) -> StepExecuted:
    return StepExecuted(thread_id=THREAD, record=record(step_index, attempt, **changes))


def judged(
    step_index: int = 0, attempt: int = 1, status: str = "validated", feedback: str = "good", **changes
):
    word = {"success": status == "validated", "feedback": feedback}
    settled = record(
        step_index, attempt, **{"status": status, "verdict": word, "judge_usage": usage(20, 2.0), **changes}
    )
    return StepJudged(thread_id=THREAD, record=settled, verdict=word)


def retried(step_index: int = 0, attempt: int = 2, feedback: str = "bad") -> StepRetried:
    return StepRetried(thread_id=THREAD, step_index=step_index, attempt=attempt, feedback=feedback)


def finished(status: str = "success", **changes: object) -> RunFinished:
    return RunFinished(thread_id=THREAD, status=status, state=state(status=status, **changes))  # type: ignore[arg-type]


def folded(*events: Event, start: float = 100.0) -> View:
    """The view after events that come a second apart."""
    view = View()
    for seconds, event in enumerate(events):
        view = fold(view, event, start + seconds)
    return view


def drawn(renderable: RenderableType, width: int = 60, *, color: bool = False) -> str:
    console = Console(
        file=StringIO(),
        width=width,
        force_terminal=color,
        color_system="standard" if color else None,
        markup=True,
        emoji=True,
        highlight=True,
    )
    console.print(renderable)
    return console.file.getvalue()  # type: ignore[attr-defined,no-any-return]
