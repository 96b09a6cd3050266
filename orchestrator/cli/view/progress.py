"""Shows a run while it goes: a live view on a terminal, lines elsewhere."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.live import Live
from rich.text import Text

from orchestrator.cli.view.live import VERDICTS, render
from orchestrator.cli.view.model import View, fold
from orchestrator.cli.view.text import decision, one_line, spent, steps, warnings
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
    StepRetried,
    StepStarted,
)
from orchestrator.state.graph_state import NO_USAGE, Question, StepRecord


def line(event: Event, view: View) -> str:
    """Say what happened.

    Args:
        event: What happened.
        view: The run, with the event folded in.
    """
    match event:
        case RunStarted():
            return f"task: {one_line(event.task)}"
        case RunResumed():
            return f"task, resumed: {one_line(event.state['task'])}"
        case RunPaused():
            return f"{_asked(event.question, view)} waits for an answer: {one_line(event.question['text'])}"
        case RunFinished():
            return _finished(event, view)
        case _:
            return _of_a_plan(event, view)


def _of_a_plan(event: Event, view: View) -> str:
    match event:
        case Planned():
            return f"plan of {steps(len(event.plan))} ({spent(event.usage)})"
        case Replanned():
            given_up = f"{len(event.replaced)} given up"
            return f"planned again, {steps(len(event.plan))}, {given_up} ({spent(event.usage)} so far)"
        case _:
            return _of_a_step(event, view)


def _of_a_step(event: Event, view: View) -> str:
    match event:
        case StepStarted():
            return f"{_where(event.step_index, event.attempt, view)}: {one_line(event.step)}"
        case StepExecuted():
            return _executed(event.record, view)
        case StepJudged():
            return _judged(event, view)
        case StepRetried():
            return f"step {event.step_index + 1} is tried again, attempt {event.attempt}"
        case _:
            return type(event).__name__


def _asked(question: Question, view: View) -> str:
    return _where(question["step_index"], question["attempt"], view)


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
    said = [decision(record) or event.verdict["feedback"], *record["warnings"]]
    return f"{where} {verdict} ({used}): {'; '.join(map(one_line, said))}"


def _finished(event: RunFinished, view: View) -> str:
    seconds = view.since - view.started
    parts = [f"{view.done} of {steps(view.wanted)}", spent(event.state["usage"], seconds)]
    if view.warnings:
        parts.append(warnings(view.warnings))
    failure = event.state["failure"]
    why = "" if failure is None else f": {failure['kind']}: {one_line(failure['message'])}"
    return f"{event.status} ({', '.join(parts)}){why}"


def _where(step_index: int, attempt: int, view: View) -> str:
    return f"step {step_index + 1} of {len(view.steps)}, attempt {attempt}"


Clock = Callable[[], float]
Show = Callable[[Event], None]


class Watch:
    """Keeps the view of a run.

    Attributes:
        view: The present one; replaced, never changed, so that any thread may read it.
    """

    def __init__(self, clock: Clock = time.monotonic) -> None:
        """Begin with a blank view."""
        self.view = View()
        self.clock = clock

    def see(self, event: Event) -> None:
        """Fold an event in."""
        self.view = fold(self.view, event, self.clock())


@contextmanager
def progress(console: Console, *, live: bool) -> Iterator[Show]:
    """Give what shows an event.

    Args:
        console: Where to.
        live: Draw a view that follows the run, in place of lines.
    """
    watch = Watch()
    if not live:
        yield lambda event: _print_line(console, watch, event)
        return
    with Live(
        console=console,
        get_renderable=lambda: render(watch.view, watch.clock(), console.height),
        refresh_per_second=8,
    ):
        yield watch.see


def _print_line(console: Console, watch: Watch, event: Event) -> None:
    watch.see(event)
    console.print(Text(line(event, watch.view)))
