"""Draws stored runs. Texts from models are never read as markup."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Final, cast

from rich.console import RenderableType, group
from rich.text import Text

from orchestrator.cli.view.consoles import clean, format_rates, format_usage, one_line
from orchestrator.cli.view.person import draw_question
from orchestrator.cli.view.record_lines import describe_verdict, format_tool_call, list_details
from orchestrator.cli.view.run_progress import describe_end
from orchestrator.persistence import RunSummary, StoredRun
from orchestrator.retry.attempts import find_best_answer
from orchestrator.state.evaluation_report import checks_of
from orchestrator.state.graph_state import OrchestratorState
from orchestrator.state.records import StepRecord
from orchestrator.state.usage import NO_USAGE, add_usage

_TEXT_CHARACTERS: Final = 200
_FIRST: Final = ("output", "status", "basis", "evidence", "failure", "question", "task", "plan")


def output_first(state: OrchestratorState) -> dict[str, object]:
    """Returns the whole state, its result first, and the ``best_attempt`` of a run that failed."""
    values = cast("Mapping[str, object]", state)
    best = find_best_answer(state) if state["status"] == "failed" else None
    found = {} if best is None else {"best_attempt": best["result"]}
    return {**{name: values[name] for name in _FIRST if name in values}, **found, **values}


def draw_runs(runs: Sequence[RunSummary]) -> Text:
    """Draws one line per run under a heading."""
    # Rich's tables break or cut lines at the width of the console, which a pipe does not have.
    width = max((len(run.thread_id) for run in runs), default=0)
    heading = f"{'thread':{width}}  {'status':11}  {'steps':5}  {'stored':19}  task"
    return Text("\n").join([Text(heading, style="bold"), *(Text(_format_row(run, width)) for run in runs)])


def _format_row(run: RunSummary, width: int) -> str:
    steps = f"{run.steps_done}/{run.steps_planned}"
    head = f"{one_line(run.thread_id):{width}}  {run.status:11}  {steps:5}  {_format_time(run.updated)}"
    return f"{head}  {one_line(run.task, _TEXT_CHARACTERS)}"


@group()
def draw_run(run: StoredRun) -> Iterator[RenderableType]:
    """Draws one run: its plan, its executions, and its question or outcome."""
    summary, state = run.summary, run.state
    started = "" if summary.started is None else f", started {_format_time(summary.started)}"
    yield Text(f"Task: {one_line(summary.task)}", style="bold")
    yield Text(f"Status: {summary.status}{started}, stored {_format_time(summary.updated)}")
    yield Text(f"Used: {format_usage(state['usage'])}{format_rates(state['usage'])}")
    for index, step in enumerate(state["plan"]):
        replaced = " (given up)" if index in state["replaced"] else ""
        yield Text(f"  {index + 1}. {one_line(step)}{replaced}")
    yield from (
        _draw_execution(record, len(state["plan"])) for record in [*state["results"], *state["synthesis"]]
    )
    if summary.question is not None:
        yield draw_question(summary.question)
    elif summary.status in ("success", "failed"):
        yield draw_outcome(state)


def _draw_execution(record: StepRecord, steps: int) -> Text:
    usage = add_usage(record["usage"], record["judge_usage"] or NO_USAGE)
    lines = [*(f"  {format_tool_call(call)}" for call in record["tool_calls"]), *list_details(record)]
    if (decision := record.get("decision")) is not None and decision["use"] != "accept":
        lines.append(f"  then {one_line(decision['use'])}: {one_line(decision['reason'], _TEXT_CHARACTERS)}")
    time = _format_time(datetime.fromisoformat(record["started_at"]))
    return Text.assemble(f"{time} ", describe_verdict(record, steps, usage), *(f"\n{line}" for line in lines))


@group()
def draw_outcome(state: OrchestratorState) -> Iterator[RenderableType]:
    """Draws how a run ended: the warnings, and the result, or the failure and the best attempt."""
    yield from (Text(f"Warning: {one_line(warning)}", style="yellow") for warning in state["warnings"])
    if state["status"] == "failed" and (best := find_best_answer(state)) is not None:
        yield Text(f"\nBest attempt{_count_passed(best)}, which was not accepted", style="bold")
        yield Text(clean(best["result"]).strip("\n"))
    yield Text.assemble("\n", describe_end(state))
    if state["status"] == "success":
        yield Text("\nResult", style="bold green")
        yield Text(get_output(state))


def _count_passed(record: StepRecord) -> str:
    """Returns by what an attempt is the best: " by its checks (1 of 2 passed)"; empty without checks."""
    checks = checks_of(record["report"] or {})
    passed = sum(check["passed"] is True for check in checks)
    return f" by its checks ({passed} of {len(checks)} passed)" if checks else ""


def get_output(state: OrchestratorState) -> str:
    """Returns the output of a successful run, safe for a terminal."""
    output = state["output"]
    if output is None:  # of an older version
        output = (state["synthesis"] or state["results"])[-1]["result"]
    return clean(output).strip("\n") or "(empty)"


def _format_time(time: datetime) -> str:
    """Formats a time in the time zone of this machine."""
    return f"{time.astimezone():%Y-%m-%d %H:%M:%S}"
