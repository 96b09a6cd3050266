"""An event as one line, for logs and pipes."""

from __future__ import annotations

from orchestrator.cli.render import VERDICTS
from orchestrator.cli.text import one_line, spent, steps
from orchestrator.cli.view import View
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
from orchestrator.state import NO_USAGE, StepRecord


def line(event: Event, view: View) -> str:
    """Say what happened.

    Args:
        event: What happened.
        view: The run, with the event folded in.
    """
    text = type(event).__name__
    match event:
        case RunStarted():
            text = f"task: {one_line(event.task)}"
        case Planned():
            text = f"plan of {steps(len(event.plan))} ({spent(event.usage)})"
        case StepStarted():
            text = f"{_where(event.step_index, event.attempt, view)}: {one_line(event.step)}"
        case StepExecuted():
            text = _executed(event.record, view)
        case StepJudged():
            text = _judged(event, view)
        case StepRetried():
            text = f"step {event.step_index + 1} is tried again, attempt {event.attempt}"
        case RunFinished():
            text = _finished(event, view)
    return text


def _executed(record: StepRecord, view: View) -> str:
    where = _where(record["step_index"], record["attempt"], view)
    how = "executed" if record["error"] is None else "not executed"
    why = "" if record["error"] is None else f": {one_line(record['error'])}"
    return f"{where} {how} ({spent(record['usage'])}){why}"


def _judged(event: StepJudged, view: View) -> str:
    record = event.record
    verdict, _ = VERDICTS[record["status"]]
    where = _where(record["step_index"], record["attempt"], view)
    used = spent(record["judge_usage"] or NO_USAGE)
    return f"{where} {verdict} ({used}): {one_line(event.verdict['feedback'])}"


def _finished(event: RunFinished, view: View) -> str:
    seconds = view.since - view.started
    done = f"{view.validated} of {steps(len(view.steps))}, {spent(event.state['usage'], seconds)}"
    failure = event.state["failure"]
    why = "" if failure is None else f": {failure['kind']}: {one_line(failure['message'])}"
    return f"{event.status} ({done}){why}"


def _where(step_index: int, attempt: int, view: View) -> str:
    return f"step {step_index + 1} of {len(view.steps)}, attempt {attempt}"
