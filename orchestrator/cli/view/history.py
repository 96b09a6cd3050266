"""Stored runs as something Rich can draw; every text in them is text, never markup."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Final

from rich.cells import cell_len
from rich.console import Group, RenderableType
from rich.text import Text

from orchestrator.cli.view.live import VERDICTS
from orchestrator.cli.view.question import question_block
from orchestrator.cli.view.summary import summary
from orchestrator.cli.view.text import decision, one_line, spent
from orchestrator.persistence import RunSummary, StoredRun
from orchestrator.runs.summary import StoredStatus
from orchestrator.state.graph_state import OrchestratorState, StepRecord
from orchestrator.state.usage import add_usage

_STYLES: Final[Mapping[StoredStatus, str]] = {
    "success": "green",
    "failed": "red",
    "waiting": "bold yellow",
    "unreadable": "dim",
}
_SAID_CHARACTERS: Final = 200
_HEADING: Final = tuple(Text(name, style="bold") for name in ("thread", "status", "steps", "stored", "task"))


def runs_table(runs: Sequence[RunSummary]) -> Text:
    """One line a run, under a heading; the columns but the last are as wide as what is in them."""
    rows = [_HEADING, *(_row(run) for run in runs)]
    widths = [max(cell_len(row[column].plain) for row in rows) for column in range(len(_HEADING) - 1)]
    return Text("\n").join(_aligned(row, widths) for row in rows)


def _row(run: RunSummary) -> tuple[Text, ...]:
    return (
        Text(one_line(run.thread_id)),
        Text(run.status, style=_STYLES.get(run.status, "")),
        Text(f"{run.steps_done}/{run.steps_planned}"),
        Text(_when(run.updated)),
        Text(one_line(run.task, _SAID_CHARACTERS)),
    )


def _aligned(row: Sequence[Text], widths: Sequence[int]) -> Text:
    *cells, last = row
    padded = (
        Text.assemble(cell, " " * (width - cell_len(cell.plain)))
        for cell, width in zip(cells, widths, strict=True)
    )
    return Text("  ").join((*padded, last))


def story(run: StoredRun) -> RenderableType:
    """A run from its beginning to where it is."""
    return Group(*_parts(run))


def _parts(run: StoredRun) -> Iterator[RenderableType]:
    line, state = run.summary, run.state
    yield Text(f"Task: {one_line(line.task)}", style="bold")
    yield Text.assemble("Status: ", (line.status, _STYLES.get(line.status, "")), _times(line))
    yield Text(f"Used: {spent(state['usage'])}")
    if state["plan"]:
        yield Text("Plan:", style="bold")
        yield from (_planned(state, index) for index in range(len(state["plan"])))
    if run.time_line:
        yield Text("Executions:", style="bold")
        yield from (_executed(record) for record in run.time_line)
    if line.question is not None:
        yield question_block(line.question)
    elif line.status in ("success", "failed"):
        yield summary(state)


def _times(line: RunSummary) -> str:
    began = "" if line.started is None else f", begun {_when(line.started)}"
    return f"{began}, stored {_when(line.updated)}"


def _planned(state: OrchestratorState, index: int) -> Text:
    given_up = " (given up)" if index in state["replaced"] else ""
    return Text(f"  {index + 1}. {one_line(state['plan'][index])}{given_up}")


def _executed(record: StepRecord) -> Text:
    verdict, style = VERDICTS[record["status"]]
    said = record["error"] or decision(record)
    usage = (
        record["usage"]
        if record["judge_usage"] is None
        else add_usage(record["usage"], record["judge_usage"])
    )
    return Text.assemble(
        f"  {_when(datetime.fromisoformat(record['started_at']))} step {record['step_index'] + 1}, "
        f"attempt {record['attempt']}: ",
        (verdict, style),
        f" ({spent(usage)})",
        f": {one_line(said, _SAID_CHARACTERS)}" if said else "",
    )


def _when(moment: datetime) -> str:
    """A time of the machine's own zone."""
    return f"{moment.astimezone():%Y-%m-%d %H:%M:%S}"
