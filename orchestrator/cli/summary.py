"""The final state in words: the results, or why there are none and what was done."""

from __future__ import annotations

from collections.abc import Iterator

from rich.text import Text

from orchestrator.cli.render import VERDICTS
from orchestrator.cli.text import clean, one_line, steps
from orchestrator.state import OrchestratorState, StepRecord

_NO_RESULT = "(empty)"


def summary(state: OrchestratorState) -> Text:
    """What ``run`` prints when it is over."""
    parts = _success(state) if state["status"] == "success" else _failure(state)
    return Text("\n\n").join(parts)


def _success(state: OrchestratorState) -> Iterator[Text]:
    *earlier, last = latest_records(state)
    for record in earlier:
        yield _block(_heading(record), record["result"], heading_style="bold", body_style="dim")
    yield _block("Result", last["result"], heading_style="bold green")


def _failure(state: OrchestratorState) -> Iterator[Text]:
    failure = state["failure"]
    kind, message = (
        (failure["kind"], failure["message"]) if failure else (state["status"], "no cause was noted")
    )
    yield Text.assemble((f"Failed ({kind}): ", "bold red"), one_line(message))
    done = sum(record["status"] == "validated" for record in state["results"])
    yield Text(
        f"Done so far: {done} of {steps(len(state['plan']))}" if state["plan"] else "Nothing was done."
    )
    for record in latest_records(state):
        yield _block(f"{_heading(record)} ({_outcome(record)})", record["result"], heading_style="bold")


def latest_records(state: OrchestratorState) -> list[StepRecord]:
    """The last execution of each step that was executed, in the plan's order."""
    return list({record["step_index"]: record for record in state["results"]}.values())


def _heading(record: StepRecord) -> str:
    return f"Step {record['step_index'] + 1}: {one_line(record['step'])}"


def _outcome(record: StepRecord) -> str:
    if record["error"] is not None:
        return one_line(record["error"])
    verdict, _ = VERDICTS[record["status"]]
    if record["status"] == "validated" or record["verdict"] is None:
        return verdict
    return f"attempt {record['attempt']} {verdict}: {one_line(record['verdict']['feedback'])}"


def _block(heading: str, body: str, *, heading_style: str, body_style: str = "") -> Text:
    return Text.assemble((heading, heading_style), "\n", (clean(body).strip("\n") or _NO_RESULT, body_style))
