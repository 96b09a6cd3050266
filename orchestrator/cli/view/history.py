"""Draws stored runs. Texts from models are never read as markup."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Final

from rich.cells import cell_len, set_cell_size
from rich.console import Group, RenderableType
from rich.text import Text

from orchestrator.cli.view.question import draw_question
from orchestrator.cli.view.records import VERDICTS, format_tool_call, last_word
from orchestrator.cli.view.summary import format_summary
from orchestrator.cli.view.text import format_usage, one_line
from orchestrator.persistence import RunSummary, StoredRun
from orchestrator.runs.summary import StoredStatus
from orchestrator.state.records import StepRecord
from orchestrator.state.usage import NO_USAGE, add_usage

_STYLES: Final[Mapping[StoredStatus, str]] = {
    "success": "green",
    "failed": "red",
    "interrupted": "yellow",
    "waiting": "bold yellow",
    "unreadable": "dim",
}
_TEXT_CHARACTERS: Final = 200
_HEADING: Final = ("thread", "status", "steps", "stored", "task")


def draw_runs(runs: Sequence[RunSummary]) -> Text:
    """Draw one line per run under a heading; all columns but the last fit their content."""
    rows = [_build_row(run) for run in runs]
    widths = [max(map(cell_len, column)) for column in zip(_HEADING, *rows, strict=True)]
    styles = ["bold", *(_STYLES.get(run.status, "") for run in runs)]
    # Rich's tables break or cut lines at the width of the console, which a pipe does not have.
    lines = ("  ".join(map(set_cell_size, row, widths)).rstrip() for row in (_HEADING, *rows))
    return Text("\n").join(map(Text, lines, styles))


def _build_row(run: RunSummary) -> tuple[str, ...]:
    return (
        one_line(run.thread_id),
        run.status,
        f"{run.steps_done}/{run.steps_planned}",
        _format_time(run.updated),
        one_line(run.task, _TEXT_CHARACTERS),
    )


def draw_run(run: StoredRun) -> RenderableType:
    """Draw one run: its plan, its executions, and its question or result."""
    return Group(*_draw_parts(run))


def _draw_parts(run: StoredRun) -> Iterator[RenderableType]:
    summary, state = run.summary, run.state
    yield Text(f"Task: {one_line(summary.task)}", style="bold")
    yield Text.assemble("Status: ", (summary.status, _STYLES.get(summary.status, "")), _format_times(summary))
    yield Text(f"Used: {format_usage(state['usage'])}")
    if state["plan"]:
        yield Text("Plan:", style="bold")
    for index, step in enumerate(state["plan"]):
        replaced = " (given up)" if index in state["replaced"] else ""
        yield Text(f"  {index + 1}. {one_line(step)}{replaced}")
    if run.time_line:
        yield Text("Executions:", style="bold")
        yield from (_draw_execution(record, len(state["plan"])) for record in run.time_line)
    if summary.question is not None:
        yield draw_question(summary.question)
    elif summary.status in ("success", "failed"):
        yield format_summary(state)


def _format_times(run: RunSummary) -> str:
    started = "" if run.started is None else f", started {_format_time(run.started)}"
    return f"{started}, stored {_format_time(run.updated)}"


def _draw_execution(record: StepRecord, steps: int) -> Text:
    verdict, style = VERDICTS[record["status"]]
    time = _format_time(datetime.fromisoformat(record["started_at"]))
    usage = add_usage(record["usage"], record["judge_usage"] or NO_USAGE)
    reason = last_word(record)
    name = f"step {record['step_index'] + 1}" if record["step_index"] < steps else "final answer"
    return Text.assemble(
        f"  {time} {name}, attempt {record['attempt']}: ",
        (verdict, style),
        f" ({format_usage(usage)})",
        f": {one_line(reason, _TEXT_CHARACTERS)}" if reason else "",
        *(f"\n    {format_tool_call(call)}" for call in record["tool_calls"]),
        _format_decision(record),
    )


def _format_decision(record: StepRecord) -> str:
    """Format what followed an execution that was not accepted, and why; empty in an older run."""
    decision = record.get("decision")
    if decision is None or decision["use"] == "accept":
        return ""
    return f"\n    then {one_line(decision['use'])}: {one_line(decision['reason'], _TEXT_CHARACTERS)}"


def _format_time(time: datetime) -> str:
    """Format a time in the time zone of this machine."""
    return f"{time.astimezone():%Y-%m-%d %H:%M:%S}"
