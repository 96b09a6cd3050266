"""The parts of a run that people see: its plan as a checklist, and each attempt with its requirements."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from evaluation.report.report_model import CheckRecord
from orchestrator.judging.evidence import read_judgement
from orchestrator.persistence import History, RunSummary, StoredRun
from orchestrator.state.graph_state import ENDED, OrchestratorState, list_accepted, list_records, read_place
from orchestrator.state.records import Attempt, EffectRecord

MOST_QUESTIONS: Final = 100


def list_questions(history: History) -> list[RunSummary]:
    """Returns the runs with an open question, the one that was stored first at the front.

    Raises:
        StoreError: The store cannot be read.
    """
    waiting = reversed(history.runs(status="waiting"))
    return [run for run in waiting if run.question is not None][:MOST_QUESTIONS]


StepState = Literal["done", "failed", "current", "open", "replaced"]
_REASONS: Final = ("rationale", "reason")


@dataclass(frozen=True, slots=True)
class StepView:
    """A step of the plan, or the final answer, with its attempts; ``number`` counts from 1."""

    number: int
    text: str
    state: StepState
    attempts: Sequence[Attempt]


def list_effects_under_way(state: OrchestratorState) -> list[EffectRecord]:
    """Lists the effects of executions that have no record yet."""
    recorded = {*map(read_place, list_records(state))}
    return [each for each in state["effects"] if read_place(each) not in recorded]


def list_steps(run: StoredRun) -> Iterator[StepView]:
    """Yields the steps of the plan, and the final answer if it was written from several steps."""
    state = run.state
    steps = [
        (text, [record for record in state["results"] if record["step_index"] == index])
        for index, text in enumerate(state["plan"])
    ]
    answer = [("Final answer", state["synthesis"])] if state["synthesis"] else []
    for index, (text, records) in enumerate([*steps, *answer]):
        yield StepView(index + 1, text, _find_state(run, index, records), records)


def _find_state(run: StoredRun, index: int, records: Sequence[Attempt]) -> StepState:
    if index in run.state["replaced"]:
        return "replaced"
    if list_accepted(records):
        return "done"
    if not records and index != run.state["current_step_index"]:
        return "open"
    return "failed" if run.summary.status == "failed" else "current"


def list_checks(record: Attempt) -> Sequence[CheckRecord]:
    """Lists the requirements of an attempt, with the words they rest on and the observation."""
    checks: Sequence[CheckRecord] = (record["report"] or {}).get("checks", ())
    return checks


def find_judge_reason(record: Attempt) -> str:
    """Returns the reason of the judge; empty without one."""
    result = read_judgement(record["report"] or {})
    return next((str(result[name]) for name in _REASONS if result.get(name)), "")


@dataclass(frozen=True, slots=True)
class StoredEvent:
    """Something that a stored run shows to have happened.

    Attributes:
        name: A name of ``orchestrator.events``, or "end" if nothing follows.
        key: Tells it from the other events of its run.
        values: Its fields as JSON.
    """

    name: str
    key: str
    values: Mapping[str, object]


_OF_STATE: Final = ("status", "output", "basis", "evidence", "failure", "question", "usage", "warnings")
"""The fields of a state that the last event has."""


def list_events(run: StoredRun) -> Iterator[StoredEvent]:
    """Yields the events of a run as far as it is stored: without the calls of tools and the retries."""
    state, status = run.state, run.summary.status
    yield StoredEvent("RunStarted", "RunStarted", {"task": state["task"]})
    if plan := state["plan"]:
        yield StoredEvent("Planned", f"Planned:{len(plan)}", {"plan": plan})  # a new plan appends steps
    for record in list_records(state):
        yield from _list_of_attempt(record)
    known: Mapping[str, object] = {**state}
    last = {"state": {name: known.get(name) for name in _OF_STATE}}
    if (question := run.summary.question) is not None:
        yield StoredEvent("RunPaused", f"RunPaused:{question['id']}", {"question": question, **last})
    elif status in ENDED:
        yield StoredEvent("RunFinished", "RunFinished", {"status": status, **last})
        yield StoredEvent("end", "end", {})


def _list_of_attempt(record: Attempt) -> Iterator[StoredEvent]:
    place = f"{record['step_index']}.{record['attempt']}"
    fields: Mapping[str, object] = {**record, "report": None, "checks": list_checks(record)}
    yield StoredEvent("StepExecuted", f"StepExecuted:{place}", {"record": fields})
    if record["verdict"] is not None and record["status"] != "pending_validation":
        judged = {"record": fields, "verdict": record["verdict"]}
        yield StoredEvent("StepJudged", f"StepJudged:{place}", judged)
