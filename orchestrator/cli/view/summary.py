"""Formats the final state of a run: its results, or the failure and the results before it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.text import Text

from orchestrator.cli.view.records import FAILURES, VERDICTS, describe_success, final_records, last_word
from orchestrator.cli.view.text import clean, count_noun, one_line
from orchestrator.state.current_step import ACCEPTED, list_accepted
from orchestrator.state.graph_state import OrchestratorState
from orchestrator.state.records import StepRecord


def format_summary(state: OrchestratorState) -> Text:
    """Format the state of a run that has ended."""
    parts = _format_success(state) if state["status"] == "success" else _format_failure(state)
    return Text("\n\n").join(parts)


def _format_success(state: OrchestratorState) -> Iterator[Text]:
    *earlier, last = list_accepted([*state["results"], *state["synthesis"]])
    for record in earlier:
        heading = f"{_format_heading(record)}{_format_warning(record)}"
        yield _format_block(heading, record["result"], heading_style="bold", body_style="dim")
    yield from _format_warnings(state["warnings"])
    if reason := describe_success(state):
        yield Text.assemble(("Success: ", "bold green"), reason)
    # A run of an older version has no output of its own.
    output = last["result"] if state["output"] is None else state["output"]
    yield _format_block(f"Result{_format_warning(last)}", output, heading_style="bold green")


def _format_failure(state: OrchestratorState) -> Iterator[Text]:
    failure = state["failure"]
    kind, message = (
        (FAILURES[failure["kind"]], failure["message"])
        if failure
        else (state["status"], "no cause was recorded")
    )
    yield Text.assemble((f"Failed ({kind}): ", "bold red"), one_line(message))
    records = final_records(state["results"])
    done = sum(record["status"] in ACCEPTED for record in records)
    steps = count_noun(len(state["plan"]) - len(state["replaced"]), "step")
    yield Text(f"Done so far: {done} of {steps}" if state["plan"] else "Nothing was done.")
    for record in records:
        replaced = ", given up" if record["step_index"] in state["replaced"] else ""
        heading = f"{_format_heading(record)} ({_format_outcome(record)}{replaced})"
        yield _format_block(heading, record["result"], heading_style="bold")
    yield from _format_warnings(state["warnings"])


def _format_heading(record: StepRecord) -> str:
    return f"Step {record['step_index'] + 1}: {one_line(record['step'])}"


def _format_warning(record: StepRecord) -> str:
    return f" ({VERDICTS['warning'][0]})" if record["status"] == "warning" else ""


def _format_outcome(record: StepRecord) -> str:
    if record["error"] is not None:
        return one_line(record["error"])
    verdict, _ = VERDICTS[record["status"]]
    reason = last_word(record)
    if record["status"] in ACCEPTED or not reason:
        return verdict
    return f"attempt {record['attempt']} {verdict}: {one_line(reason)}"


def _format_warnings(warnings: Sequence[str]) -> Iterator[Text]:
    if warnings:
        body = "\n".join(f"- {one_line(warning)}" for warning in warnings)
        yield _format_block("Warnings", body, heading_style="bold yellow")


def _format_block(heading: str, body: str, *, heading_style: str, body_style: str = "") -> Text:
    return Text.assemble((heading, heading_style), "\n", (clean(body).strip("\n") or "(empty)", body_style))
