"""Shows the progress of a run: a live view on a terminal, one line per event elsewhere."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import TypeAlias, cast

from rich.console import Console
from rich.live import Live
from rich.text import Text

from evaluation.results.findings import CheckRecord
from orchestrator.cli.view.contract import list_requirements
from orchestrator.cli.view.live import draw_frame, format_totals
from orchestrator.cli.view.model import View, update_view
from orchestrator.cli.view.records import FAILURES, VERDICTS, last_word, name_failure
from orchestrator.cli.view.text import clean, count_noun, format_usage, one_line
from orchestrator.runtime.events import (
    Event,
    Planned,
    Replanned,
    RunFinished,
    RunInterrupted,
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
from orchestrator.state.records import StepRecord
from orchestrator.state.usage import NO_USAGE

Clock: TypeAlias = Callable[[], float]
Show: TypeAlias = Callable[[Event], None]


class Watch:
    """Keeps the view of a run up to date.

    Attributes:
        view: The current view. It is replaced, never changed, so that other threads can read it.
    """

    def __init__(self, clock: Clock = time.monotonic) -> None:
        """Start with an empty view, whose time starts now."""
        self.view = View(started=clock(), since=clock())
        self.clock = clock

    def see(self, event: Event) -> None:
        """Update the view with an event."""
        self.view = update_view(self.view, event, self.clock())


@contextmanager
def show_progress(console: Console, *, live: bool, verbose: bool = False) -> Iterator[Show]:
    """Yield a function that shows an event on the console.

    Args:
        console: The console for the progress.
        live: Redraw one view instead of printing lines.
        verbose: Print each output and its checks, too.
    """
    watch = Watch()

    def show(event: Event) -> None:
        watch.see(event)
        lines = [] if live else [format_event(event, watch.view)]
        for line in [*lines, *(list_details(event) if verbose else ())]:
            console.print(Text(line))

    # Live draws in a thread of its own; it reads the view while events replace it.
    frames = Live(
        console=console,
        get_renderable=lambda: draw_frame(watch.view, watch.clock(), console.height),
        refresh_per_second=8,
    )
    with frames if live else nullcontext():
        yield show


def list_details(event: Event) -> Iterator[str]:
    """Yield the output of an execution line by line, or the checks of a verdict."""
    if isinstance(event, StepExecuted):
        yield from (f"  | {line}" for line in clean(event.record["result"]).splitlines())
    if isinstance(event, StepJudged):
        yield from map(_format_check, _list_checks(event.record))


def _list_checks(record: StepRecord) -> Sequence[CheckRecord]:
    return (
        () if record["report"] is None else cast("Sequence[CheckRecord]", record["report"].get("checks", ()))
    )


def _format_check(check: CheckRecord) -> str:
    passed = check["passed"]
    word = "not decided" if passed is None else "passed" if passed else "failed"
    return f"  check {word}: {one_line(check['wanted'])} ({one_line(check['seen'])})"


def format_event(event: Event, view: View) -> str:
    """Describe an event in one line; a plan also with one line for the checks of each output.

    Args:
        event: The event.
        view: The view of the run after the event.
    """
    match event:
        case RunStarted():
            return f"task: {one_line(event.task)}"
        case RunResumed():
            return f"task, resumed: {one_line(event.state['task'])}"
        case RunPaused(question=question):
            position = _format_position(question["step_index"], question["attempt"], view)
            return f"{position} waits for an answer: {one_line(question['text'])}"
        case RunFinished() | RunInterrupted():
            return _format_end(event, view)
        case Planned():
            plan = f"plan of {count_noun(len(event.plan), 'step')} ({format_usage(event.usage)})"
            return "\n".join([plan, *list_requirements(event.derived)])
        case _:
            return _format_later_event(event, view)


def _format_later_event(event: Event, view: View) -> str:
    match event:
        case Replanned():
            plan = f"{count_noun(len(event.plan), 'step')}, {len(event.replaced)} given up"
            return f"planned again, {plan} ({format_usage(event.usage)} so far)"
        case StepStarted():
            return f"{_format_position(event.step_index, event.attempt, view)}: {one_line(event.step)}"
        case StepExecuted():
            return _format_execution(event.record, view)
        case StepJudged():
            return _format_verdict(event.record, view)
        case StepRetried():
            how = "" if event.decision is None else f" ({event.decision['use']})"
            return f"step {event.step_index + 1} is retried, attempt {event.attempt}{how}"
        case _:
            return (
                _format_tool_call(event)
                if isinstance(event, ToolStarted | ToolEnded)
                else type(event).__name__
            )


def _format_position(step_index: int, attempt: int, view: View) -> str:
    if step_index >= len(view.steps) or view.steps[step_index].is_answer:
        return f"final answer, attempt {attempt}"
    steps = sum(not step.is_answer for step in view.steps)
    return f"step {step_index + 1} of {steps}, attempt {attempt}"


def _format_tool_call(event: ToolStarted | ToolEnded) -> str:
    caller = "the planner" if event.step_index is None else f"step {event.step_index + 1}"
    name, error = one_line(event.call["name"]), event.call["error"]
    if isinstance(event, ToolStarted):
        return f"{caller} calls the tool {name}"
    end = "answered" if error is None else f"{name_failure(event.call)}: {one_line(error)}"
    return f"{caller}: the tool {name} {end}"


def _format_execution(record: StepRecord, view: View) -> str:
    position = _format_position(record["step_index"], record["attempt"], view)
    usage = format_usage(record["usage"])
    if record["error"] is None:
        return f"{position} executed ({usage})"
    return f"{position} not executed ({usage}): {one_line(record['error'])}"


def _format_verdict(record: StepRecord, view: View) -> str:
    verdict, _ = VERDICTS[record["status"]]
    position = _format_position(record["step_index"], record["attempt"], view)
    usage = format_usage(record["judge_usage"] or NO_USAGE)
    reasons = [last_word(record), *record["warnings"]]
    return f"{position} {verdict} ({usage}): {'; '.join(map(one_line, reasons))}"


def _format_end(event: RunFinished | RunInterrupted, view: View) -> str:
    failure = event.state["failure"]
    reason = "" if failure is None else f": {FAILURES[failure['kind']]}: {one_line(failure['message'])}"
    status = event.status if isinstance(event, RunFinished) else "interrupted"
    basis = f": {view.basis}" if view.basis else ""
    return f"{status}{basis} ({format_totals(view, view.since)}){reason}"
