"""What the state says of the step under way: pure functions."""

from __future__ import annotations

from collections.abc import Sequence

from orchestrator.state.graph_state import Json, OrchestratorState, StepRecord
from orchestrator.state.records import SupervisionMode


def current_step(state: OrchestratorState) -> tuple[int, str]:
    """The index in the whole plan and the text; in a parallel branch the plan holds that step alone."""
    index = current_index(state)
    return index, state["plan"][_declared_at(state)]


def current_index(state: OrchestratorState) -> int:
    """The index of the current step in the whole plan."""
    branch = state["underway"]["branch"]
    return state["current_step_index"] if branch is None else branch


def current_records(state: OrchestratorState) -> list[StepRecord]:
    """The executions of the current step so far, in their order."""
    return executions(state["results"], current_index(state))


def executions(records: Sequence[StepRecord], step_index: int) -> list[StepRecord]:
    """Those of one step; they stand together."""
    found: list[StepRecord] = []
    for record in reversed(records):
        if record["step_index"] == step_index:
            found.insert(0, record)
        elif record["step_index"] < step_index:
            break
    return found


def latest_record(state: OrchestratorState) -> StepRecord:
    """The latest execution of the current step."""
    return current_records(state)[-1]


def last_refusal(state: OrchestratorState) -> StepRecord | None:
    """The latest execution of the current step, if it was refused."""
    if not state["attempts"]:
        return None
    records = current_records(state)
    return records[-1] if records else None


def mode_of(state: OrchestratorState, default: SupervisionMode) -> SupervisionMode:
    """How the current step is supervised."""
    modes = state["declared"]["modes"]
    return default if modes is None else modes[_declared_at(state)]


def planned_contract(state: OrchestratorState) -> dict[str, Json] | None:
    """The contract that the planner gave the current step, if any."""
    contracts = state["declared"]["contracts"]
    return None if contracts is None else contracts[_declared_at(state)]


def _declared_at(state: OrchestratorState) -> int:
    return 0 if state["underway"]["branch"] is not None else state["current_step_index"]


def corrections(records: Sequence[StepRecord]) -> list[str]:
    """What supervisors and people wanted otherwise, over all executions of a step."""
    return [text for record in records if (text := correction_of(record))]


def correction_of(record: StepRecord) -> str | None:
    """The correction that an execution was given back with; None where it was not."""
    supervision = record["supervision"]
    if supervision is None:
        return None
    answer, verdict = supervision["answer"], supervision["verdict"]
    if answer is not None:
        return answer["text"] if answer["answer"] == "correct" else None
    return verdict["correction"] if verdict is not None and verdict["verdict"] == "reorient" else None


def refusals(records: Sequence[StepRecord]) -> int:
    """How many executions failed by themselves: those given back with a correction count elsewhere."""
    return sum(
        record["status"] in ("failed", "needs_review") and correction_of(record) is None for record in records
    )


def context_entry(record: StepRecord) -> str:
    """What the context says of a step that stands."""
    return f"Step {record['step_index'] + 1}: {record['step']}\nResult: {record['result']}"
