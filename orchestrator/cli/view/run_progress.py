"""Shows the progress of a run: one line per event, and on a terminal the steps that run now."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final, cast

from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn
from rich.text import Text

from evaluation.results.findings import CheckRecord
from orchestrator.cli.view.executions import VERDICTS, last_word
from orchestrator.cli.view.requirements import list_requirements
from orchestrator.cli.view.terminal_text import clean, count_noun, format_rates, format_usage, one_line
from orchestrator.runtime import events
from orchestrator.state.current_step import ACCEPTED, read_basis_reason
from orchestrator.state.graph_state import OrchestratorState
from orchestrator.state.usage import NO_USAGE

_PLANNING: Final = -1
"""The key of the planner among the steps."""


class RunProgress:
    """Prints the events of a run, and keeps the list of what runs now."""

    def __init__(self, console: Console, running: Progress, *, verbose: bool = False) -> None:
        """Starts before the first event.

        Args:
            console: Gets a line for each event.
            running: Shows what runs now, with its time.
            verbose: Print each output and its checks, too.
        """
        self._console, self._running, self._verbose = console, running, verbose
        self._tasks: dict[int, TaskID] = {}
        self._steps = 0

    def show(self, event: events.Event) -> None:
        """Shows an event."""
        if isinstance(event, events.Planned | events.Replanned):
            self._steps = len(event.plan)
        if isinstance(event, events.RunResumed):
            self._steps = len(event.state["plan"])
        self._console.print(describe_event(event, self._steps))
        for line in list_details(event) if self._verbose else ():
            self._console.print(Text(line, style="dim"))
        self._follow(event)

    def _follow(self, event: events.Event) -> None:
        match event:
            case events.RunStarted():
                self._mark(_PLANNING, "planning")
            case events.Planned():
                self._mark(_PLANNING, "")
            case events.StepStarted(step_index=index):
                self._mark(index, f"{name_step(index, self._steps)}: executing")
            case events.StepExecuted(record=record):
                self._mark(record["step_index"], f"{name_step(record['step_index'], self._steps)}: judging")
            case events.StepJudged(record=record):
                self._mark(record["step_index"], "")

    def _mark(self, step_index: int, description: str) -> None:
        if step_index in self._tasks:
            self._running.remove_task(self._tasks.pop(step_index))
        if description:
            self._tasks[step_index] = self._running.add_task(description)


@contextmanager
def show_progress(console: Console, *, verbose: bool = False) -> Iterator[RunProgress]:
    """Shows a run on a console inside the block."""
    # FORCE_COLOR makes Rich take a file for a terminal; a dumb terminal cannot move the cursor.
    is_live = console.file.isatty() and console.is_interactive
    columns = SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn()
    with Progress(*columns, console=console, transient=True, disable=not is_live) as running:
        yield RunProgress(console, running, verbose=verbose)


def name_step(step_index: int, steps: int) -> str:
    """Names a step of a plan of ``steps`` steps; the index after the last is the final answer."""
    return f"step {step_index + 1} of {steps}" if step_index < steps else "final answer"


def name_attempt(step_index: int, attempt: int, steps: int) -> str:
    """Names an execution of a step."""
    return f"{name_step(step_index, steps)}, attempt {attempt}"


def describe_event(event: events.Event, steps: int) -> Text:
    """Describes an event in one line; a plan also with one line for the checks of each output.

    Args:
        event: The event.
        steps: Number of steps in the plan after the event.
    """
    match event:
        case events.RunStarted():
            return Text(f"task: {one_line(event.task)}", style="bold")
        case events.RunResumed():
            return Text(f"task, resumed: {one_line(event.state['task'])}", style="bold")
        case events.RunFinished() | events.RunInterrupted():
            return describe_end(event.state)
        case _:
            return _describe_plan_event(event, steps)


def _describe_plan_event(event: events.Event, steps: int) -> Text:
    match event:
        case events.Planned():
            plan = f"plan of {count_noun(len(event.plan), 'step')} ({format_usage(event.usage)})"
            return Text("\n".join([plan, *list_requirements(event.derived)]))
        case events.Replanned():
            counts = f"{count_noun(len(event.plan), 'step')}, {len(event.replaced)} given up"
            return Text(f"planned again, {counts} ({format_usage(event.usage)} so far)")
        case events.RunPaused(question=question):
            position = name_attempt(question["step_index"], question["attempt"], steps)
            return Text(f"{position} waits for an answer: {one_line(question['text'])}", style="bold yellow")
        case _:
            return _describe_step_event(event, steps)


def _describe_step_event(event: events.Event, steps: int) -> Text:
    match event:
        case events.StepStarted():
            position = name_attempt(event.step_index, event.attempt, steps)
            return Text(f"{position}: {one_line(event.step)}", style="cyan")
        case events.StepExecuted(record=record):
            position = name_attempt(record["step_index"], record["attempt"], steps)
            word = "executed" if record["error"] is None else "not executed"
            error = "" if record["error"] is None else f": {one_line(record['error'])}"
            return Text(f"{position} {word} ({format_usage(record['usage'])}){error}")
        case events.StepJudged(record=record):
            verdict, style = VERDICTS[record["status"]]
            reasons = "; ".join(map(one_line, [last_word(record), *record["warnings"]]))
            usage = format_usage(record["judge_usage"] or NO_USAGE)
            position = name_attempt(record["step_index"], record["attempt"], steps)
            return Text(f"{position} {verdict} ({usage}): {reasons}", style=style)
        case events.StepRetried():
            how = "" if event.decision is None else f" ({event.decision['use']})"
            return Text(f"step {event.step_index + 1} is retried, attempt {event.attempt}{how}")
        case events.ToolStarted() | events.ToolEnded():
            return _describe_tool_call(event)
        case _:
            return Text(type(event).__name__)


def _describe_tool_call(event: events.ToolStarted | events.ToolEnded) -> Text:
    caller = "the planner" if event.step_index is None else f"step {event.step_index + 1}"
    name, error = one_line(event.call["name"]), event.call["error"]
    if isinstance(event, events.ToolStarted):
        return Text(f"{caller} calls the tool {name}")
    end = "answered" if error is None else f"{event.call.get('gate', 'failed')}: {one_line(error)}"
    return Text(f"{caller}: the tool {name} {end}")


def describe_end(state: OrchestratorState) -> Text:
    """Describes the state of a run that does not go on: its status, what it rests on, and its totals."""
    status = state["status"] if state["status"] in ("success", "failed") else "interrupted"
    failure, basis = state["failure"], one_line(read_basis_reason(state))
    reason = basis if failure is None else f"{failure['kind']}: {one_line(failure['message'])}"
    done = {record["step_index"] for record in state["results"] if record["status"] in ACCEPTED}
    steps = f"{len(done)} of {count_noun(len(state['plan']) - len(state['replaced']), 'step')}"
    totals = [steps, format_usage(state["usage"])]
    totals += [count_noun(len(state["warnings"]), "warning")] if state["warnings"] else []
    style = {"success": "green", "failed": "bold red"}.get(status, "yellow")
    head = f"Done. {reason}" if status == "success" and reason else ": ".join(filter(None, [status, reason]))
    return Text(f"{head} ({'; '.join([', '.join(totals), *format_rates(state['usage'])])})", style=style)


def list_details(event: events.Event) -> Iterator[str]:
    """Yields the output of an execution line by line, or the checks of a verdict."""
    if isinstance(event, events.StepExecuted):
        yield from (f"  | {line}" for line in clean(event.record["result"]).splitlines())
    if isinstance(event, events.StepJudged) and event.record["report"] is not None:
        checks = cast("Sequence[CheckRecord]", event.record["report"].get("checks", ()))
        yield from map(_format_check, checks)


def _format_check(check: CheckRecord) -> str:
    word = {None: "not decided", True: "passed", False: "failed"}[check["passed"]]
    return f"  check {word}: {one_line(check['wanted'])} ({one_line(check['seen'])})"
