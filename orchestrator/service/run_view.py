"""The parts of a run that people see: its plan as a checklist, and each attempt with its requirements."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from evaluation.report.report_model import CheckRecord
from orchestrator.errors import StoreError
from orchestrator.judging.evidence import read_judgement
from orchestrator.persistence import History, RunSummary, StoredRun
from orchestrator.service.executions import RunBuilder
from orchestrator.state.graph_state import ACCEPTED, ENDED, OrchestratorState, add_usage, read_basis_reason
from orchestrator.state.records import NO_USAGE, Attempt, HumanAnswer, Question, Report, Usage

MOST_QUESTIONS: Final = 100


@dataclass(frozen=True, slots=True)
class OpenQuestion:
    """A question that waits for a person.

    Attributes:
        thread_id: The run that asks.
        task: Its task.
        question: As the run asks it.
        attempt: The execution in question, with its checks; None for a call that has not run.
        problem: Why this server cannot resume the run, and what resumes it elsewhere; None if it can.
    """

    thread_id: str
    task: str
    question: Question
    attempt: AttemptView | None
    problem: str | None = None


def list_questions(history: History, builder: RunBuilder) -> list[OpenQuestion]:
    """Returns the open questions, the oldest first, at most ``MOST_QUESTIONS``.

    Raises:
        StoreError: The store cannot be read.
    """
    waiting = [(run, run.question) for run in history.runs(status="waiting") if run.question is not None]
    return [
        OpenQuestion(
            run.thread_id,
            run.task,
            question,
            _find_attempt(history, run, question),
            builder.find_problem(run.thread_id),
        )
        for run, question in sorted(waiting, key=_find_time)[:MOST_QUESTIONS]
    ]


def _find_attempt(history: History, run: RunSummary, question: Question) -> AttemptView | None:
    if question["kind"] in ("tool", "agent"):  # asked during the execution, which has no record yet
        return None
    try:
        state = history.show(run.thread_id).state
    except StoreError:  # answered, and deleted meanwhile
        return None
    return find_attempt(state, question["step_index"], question["attempt"])


def _find_time(item: tuple[RunSummary, Question]) -> str:
    run, question = item
    # An agent's own question has no time; its run was stored with it.
    return question["asked_at"] or run.updated.isoformat()


StepState = Literal["done", "failed", "current", "open", "replaced"]
_REASONS: Final = ("rationale", "reason")


@dataclass(frozen=True, slots=True)
class AttemptView:
    """One execution of a step.

    Attributes:
        record: As it is stored.
        checks: The requirements of its contract, with the words that they rest on and what was seen.
        judge: The reason of the judge; empty without one.
        answer: What a person answered, if anybody was asked.
        usage: Of the execution and its evaluation.
    """

    record: Attempt
    checks: Sequence[CheckRecord]
    judge: str
    answer: HumanAnswer | None
    usage: Usage


@dataclass(frozen=True, slots=True)
class StepView:
    """A step of the plan, or the final answer, with its attempts; ``number`` counts from 1."""

    number: int
    text: str
    state: StepState
    attempts: Sequence[AttemptView]


@dataclass(frozen=True, slots=True)
class RunView:
    """A run. After the plan, ``steps`` has the final answer, if it was written from several steps."""

    summary: RunSummary
    state: OrchestratorState
    steps: Sequence[StepView]
    basis_reason: str


def build_run_view(run: StoredRun) -> RunView:
    """Builds the view of a stored run."""
    state = run.state
    return RunView(
        summary=run.summary,
        state=state,
        steps=[*_list_steps(run)],
        basis_reason=read_basis_reason(state),
    )


def find_attempt(state: OrchestratorState, step_index: int, attempt: int) -> AttemptView | None:
    """Returns an attempt; None if its execution is not stored yet."""
    records = [*state["results"], *state["synthesis"]]
    place = step_index, attempt
    return next(
        (_view_attempt(each) for each in records if (each["step_index"], each["attempt"]) == place), None
    )


def find_last_answer(state: OrchestratorState) -> HumanAnswer | None:
    """Returns the latest answer of a person in a run: about a step, or about a call."""
    records = [*state["results"], *state["synthesis"]]
    supervised = [record["supervision"]["answer"] for record in records if record["supervision"] is not None]
    answers = [answer for answer in supervised if answer is not None]
    answers += [call["answer"] for record in records for call in record["tool_calls"] if "answer" in call]
    return max(answers, key=lambda answer: answer["answered_at"], default=None)


def _list_steps(run: StoredRun) -> Iterator[StepView]:
    state = run.state
    steps = [
        (text, [record for record in state["results"] if record["step_index"] == index])
        for index, text in enumerate(state["plan"])
    ]
    answer = [("Final answer", state["synthesis"])] if state["synthesis"] else []
    for index, (text, records) in enumerate([*steps, *answer]):
        yield StepView(index + 1, text, _find_state(run, index, records), [*map(_view_attempt, records)])


def _find_state(run: StoredRun, index: int, records: Sequence[Attempt]) -> StepState:
    if index in run.state["replaced"]:
        return "replaced"
    if any(map(_is_accepted, records)):
        return "done"
    if not records and index != run.state["current_step_index"]:
        return "open"
    return "failed" if run.summary.status == "failed" else "current"


def _is_accepted(record: Attempt) -> bool:
    return record["status"] in ACCEPTED


def _view_attempt(record: Attempt) -> AttemptView:
    supervision = record["supervision"]
    report: Report = record["report"] or {}
    result = read_judgement(report)
    return AttemptView(
        record=record,
        checks=report.get("checks", ()),
        judge=next((str(result[name]) for name in _REASONS if result.get(name)), ""),
        answer=None if supervision is None else supervision["answer"],
        usage=add_usage(record["usage"], record["judge_usage"] or NO_USAGE),
    )


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
    for record in (*state["results"], *state["synthesis"]):
        yield from _list_of_attempt(record)
    known: Mapping[str, object] = {**state}
    last = {"state": {name: known.get(name) for name in _OF_STATE}}
    if (question := run.summary.question) is not None:
        yield StoredEvent("RunPaused", f"RunPaused:{question['id']}", {"question": question, **last})
    elif status in ENDED:
        yield StoredEvent("RunFinished", "RunFinished", {"status": status, **last})
        yield StoredEvent("end", "end", {})


def _list_of_attempt(record: Attempt) -> Iterator[StoredEvent]:
    place, report = f"{record['step_index']}.{record['attempt']}", record["report"] or {}
    fields: Mapping[str, object] = {**record, "report": None, "checks": report.get("checks", ())}
    yield StoredEvent("StepExecuted", f"StepExecuted:{place}", {"record": fields})
    if record["verdict"] is not None and record["status"] != "pending_validation":
        judged = {"record": fields, "verdict": record["verdict"]}
        yield StoredEvent("StepJudged", f"StepJudged:{place}", judged)
