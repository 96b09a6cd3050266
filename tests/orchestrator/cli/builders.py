"""Builders of records and events, and a console that writes into a string."""

from io import StringIO

from rich.console import Console, RenderableType

from orchestrator.events import (
    Planned,
    Replanned,
    RunFinished,
    RunPaused,
    RunResumed,
    RunStarted,
    StepExecuted,
    StepJudged,
    StepRetried,
    StepStarted,
    ToolEnded,
    ToolStarted,
)
from orchestrator.state.graph_state import Failure, OrchestratorState, blank_state
from orchestrator.state.records import NO_USAGE, Question, SupervisionRecord, ToolCallRecord, Usage
from tests.fakes.records import record, usage

THREAD = "thread"


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


def tool_call(name: str, error: str | None = None) -> ToolCallRecord:
    return ToolCallRecord(name=name, args={}, result=None, error=error, latency_ms=None)


def tool_started(step_index: int | None, name: str) -> ToolStarted:
    return ToolStarted(thread_id=THREAD, step_index=step_index, call=tool_call(name))


def tool_ended(step_index: int | None, name: str, error: str | None = None) -> ToolEnded:
    return ToolEnded(thread_id=THREAD, step_index=step_index, call=tool_call(name, error))


def retried(step_index: int = 0, attempt: int = 2, feedback: str = "bad") -> StepRetried:
    return StepRetried(thread_id=THREAD, step_index=step_index, attempt=attempt, feedback=feedback)


def finished(status: str = "success", **changes: object) -> RunFinished:
    return RunFinished(thread_id=THREAD, status=status, state=state(status=status, **changes))  # type: ignore[arg-type]


def question(step_index: int = 0, attempt: int = 1, **changes: object) -> Question:
    made = Question(
        id=f"{step_index}.{attempt}",
        kind="supervision",
        step_index=step_index,
        step=f"step {step_index + 1}",
        attempt=attempt,
        text="Do you accept it?",
        output="the result",
        findings=[],
        accepts=["approve", "correct", "deny"],
        asked_at="2025-01-01T00:00:00+00:00",
        problem=None,
    )
    return {**made, **changes}  # type: ignore[typeddict-item,return-value]


def supervised(**changes: object) -> SupervisionRecord:
    made = SupervisionRecord(
        mode="llm", commitment=None, assessment=None, triggers=[], verdict=None, answer=None
    )
    return {**made, **changes}  # type: ignore[typeddict-item,return-value]


def answered(word: str, text: str = "") -> SupervisionRecord:
    answer = {"answer": word, "text": text, "answered_by": "ada", "answered_at": "2025-01-01T00:00:00+00:00"}
    return supervised(answer=answer)


def paused(asked: Question | None = None, **changes: object) -> RunPaused:
    asked = asked or question()
    waiting = state(**{"status": "executing", "question": asked, **changes})
    return RunPaused(thread_id=THREAD, question=asked, state=waiting)


def resumed(**changes: object) -> RunResumed:
    return RunResumed(thread_id=THREAD, state=state(**{"status": "executing", **changes}))


def replanned(*new: str, replaced: tuple[int, ...] = (1,), spent: Usage = NO_USAGE) -> Replanned:
    plan = ("step 1", "step 2", *(new or ("another step",)))
    return Replanned(thread_id=THREAD, plan=plan, replaced=replaced, usage=spent)


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
