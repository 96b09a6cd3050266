"""Shows the progress of a run: one line per event."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from orchestrator.cli.view import record_lines
from orchestrator.cli.view.consoles import count_noun, format_rates, format_usage, one_line
from orchestrator.runtime import events
from orchestrator.state.current_step import ACCEPTED, read_basis_reason
from orchestrator.state.graph_state import OrchestratorState
from orchestrator.state.usage import NO_USAGE


class RunProgress:
    """Prints the events of a run.

    Args:
        console: Gets a line for each event.
        verbose: Print each output and its checks, too.
    """

    def __init__(self, console: Console, *, verbose: bool = False) -> None:
        self._console, self._verbose = console, verbose
        self._steps = 0

    def show(self, event: events.Event) -> None:
        """Shows an event."""
        if isinstance(event, events.Planned | events.Replanned):
            self._steps = len(event.plan)
        if isinstance(event, events.RunResumed):
            self._steps = len(event.state["plan"])
        self._console.print(describe_event(event, self._steps))
        if self._verbose and isinstance(event, events.StepJudged):
            self._console.print(Text("\n".join(record_lines.list_details(event.record)), style="dim"))


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
        case events.Planned():
            plan = f"plan of {count_noun(len(event.plan), 'step')} ({format_usage(event.usage)})"
            return Text("\n".join([plan, *record_lines.list_requirements(event.derived)]))
        case events.Replanned():
            counts = f"{count_noun(len(event.plan), 'step')}, {len(event.replaced)} given up"
            return Text(f"planned again, {counts} ({format_usage(event.usage)} so far)")
        case events.RunFinished() | events.RunInterrupted():
            return describe_end(event.state)
        case _:
            return _describe_step_event(event, steps)


def _describe_step_event(event: events.Event, steps: int) -> Text:
    match event:
        case events.StepStarted():
            name = record_lines.name_attempt(event.step_index, event.attempt, steps)
            return Text(f"{name}: {one_line(event.step)}", style="cyan")
        case events.StepExecuted(record=record):
            name = record_lines.name_attempt(record["step_index"], record["attempt"], steps)
            end = "executed" if record["error"] is None else f"not executed: {one_line(record['error'])}"
            return Text(f"{name} {end} ({format_usage(record['usage'])})")
        case events.StepJudged(record=record):
            return record_lines.describe_verdict(record, steps, record["judge_usage"] or NO_USAGE)
        case events.StepRetried():
            how = "" if event.decision is None else f" ({event.decision['use']})"
            return Text(f"step {event.step_index + 1} is retried, attempt {event.attempt}{how}")
        case events.RunPaused(question=question):
            name = record_lines.name_attempt(question["step_index"], question["attempt"], steps)
            return Text(f"{name} waits for an answer: {one_line(question['text'])}", style="bold yellow")
        case _:
            return _describe_tool_call(event)


def _describe_tool_call(event: events.Event) -> Text:
    if not isinstance(event, events.ToolStarted | events.ToolEnded):
        return Text(type(event).__name__)
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
    return Text(f"{head} ({', '.join(totals)}{format_rates(state['usage'])})", style=style)
