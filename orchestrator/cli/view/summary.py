"""The final state in words: the results, or why there are none and what was done."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.text import Text

from orchestrator.cli.view.live import VERDICTS
from orchestrator.cli.view.text import clean, decision, one_line, steps
from orchestrator.state.graph_state import OrchestratorState, StepRecord

_NO_RESULT = "(empty)"
_STANDING = ("validated", "warning")


def summary(state: OrchestratorState) -> Text:
    """What is printed when a run is over."""
    parts = _success(state) if state["status"] == "success" else _failure(state)
    return Text("\n\n").join(parts)


def _success(state: OrchestratorState) -> Iterator[Text]:
    *earlier, last = (record for record in final_records(state) if record["status"] in _STANDING)
    for record in earlier:
        heading = f"{_heading(record)}{_reserve(record)}"
        yield _block(heading, record["result"], heading_style="bold", body_style="dim")
    yield from _warnings(state["warnings"])
    yield _block(f"Result{_reserve(last)}", last["result"], heading_style="bold green")


def _failure(state: OrchestratorState) -> Iterator[Text]:
    failure = state["failure"]
    kind, message = (
        (failure["kind"], failure["message"]) if failure else (state["status"], "no cause was noted")
    )
    yield Text.assemble((f"Failed ({kind}): ", "bold red"), one_line(message))
    records = final_records(state)
    done, wanted = _standing(records), len(state["plan"]) - len(state["replaced"])
    yield Text(f"Done so far: {done} of {steps(wanted)}" if state["plan"] else "Nothing was done.")
    for record in records:
        given_up = ", given up" if record["step_index"] in state["replaced"] else ""
        yield _block(
            f"{_heading(record)} ({_outcome(record)}{given_up})", record["result"], heading_style="bold"
        )
    yield from _warnings(state["warnings"])


def final_records(state: OrchestratorState) -> list[StepRecord]:
    """Of each step that was executed, the execution that stands, or else the last; in the plan's order."""
    found: dict[int, StepRecord] = {}
    for record in state["results"]:
        before = found.get(record["step_index"])
        if before is None or before["status"] not in _STANDING:
            found[record["step_index"]] = record
    return list(found.values())


def _standing(records: Sequence[StepRecord]) -> int:
    return sum(record["status"] in _STANDING for record in records)


def _heading(record: StepRecord) -> str:
    return f"Step {record['step_index'] + 1}: {one_line(record['step'])}"


def _reserve(record: StepRecord) -> str:
    return f" ({VERDICTS['warning'][0]})" if record["status"] == "warning" else ""


def _outcome(record: StepRecord) -> str:
    if record["error"] is not None:
        return one_line(record["error"])
    verdict, _ = VERDICTS[record["status"]]
    said = decision(record)
    if record["status"] in _STANDING or not said:
        return verdict
    return f"attempt {record['attempt']} {verdict}: {one_line(said)}"


def _warnings(warned: Sequence[str]) -> Iterator[Text]:
    if warned:
        body = "\n".join(f"- {one_line(warning)}" for warning in warned)
        yield _block("Warnings", body, heading_style="bold yellow")


def _block(heading: str, body: str, *, heading_style: str, body_style: str = "") -> Text:
    return Text.assemble((heading, heading_style), "\n", (clean(body).strip("\n") or _NO_RESULT, body_style))
