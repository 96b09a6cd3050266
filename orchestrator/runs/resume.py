"""Decides how a stored run continues: pure functions of its snapshot and an answer.

A run that ended because an execution could not be judged is judged again, and executes nothing. The settings
that make a run safe, its safeguards, are stored with it, and compared when it is resumed.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from functools import partial
from types import CodeType, FunctionType, MethodType
from typing import Final, Literal, cast

from langgraph.constants import START
from langgraph.types import Command, Interrupt, StateSnapshot

from agents.loop.acting_tools import read_acting_tools
from evaluation import EvaluationContract
from evaluation.checks.contract_checks import FunctionCheck
from evaluation.contract.requirements import Contract
from orchestrator.errors import BrokenRunError, ResumeError
from orchestrator.runs.run_saver import convert_read_errors, describe_unknown_thread, schema_problem
from orchestrator.settings import Settings
from orchestrator.state.graph_state import (
    UNDERWAY,
    FailureKind,
    OrchestratorState,
    StateUpdate,
    apply_update,
    blank_state,
    current_records,
    current_step,
    records_field,
)
from orchestrator.state.plain_values import format_repr, format_text, name_thread, plain_json
from orchestrator.state.records import Attempt, Json, Question
from orchestrator.supervision import human

PLANNER: Final = "planner_node"
"""The node that a run begins with."""


@dataclass(frozen=True, slots=True)
class Resumption:
    """How a run continues.

    Attributes:
        state: The stored state.
        input: The input for the graph; "wait" if nothing can be done without an answer.
        questions: The questions that wait.
        rejudging: The update by which a run that has ended is judged again; None if it has not ended.
    """

    state: OrchestratorState
    input: Command[str] | Literal["wait"] | None
    questions: tuple[Question, ...] = ()
    rejudging: StateUpdate | None = None


def decide_resumption(
    thread_id: str, snapshot: StateSnapshot, answer: object, now: datetime, max_retries: int
) -> Resumption:
    """Decides how a thread continues.

    Args:
        thread_id: The thread.
        snapshot: The state of the thread, with the states of nested graphs.
        answer: A person's answer, or None.
        now: The time, in UTC.
        max_retries: For a run that has no plan yet.

    Raises:
        ResumeError: There is nothing to resume, or the answer is not accepted.
        BrokenRunError: The thread does not hold the state of a run.
    """
    with convert_read_errors(thread_id):
        state = _resumable_state(thread_id, snapshot, max_retries)
        waiting = _open_questions(snapshot, state)
        rejudging = None if snapshot.tasks else find_rejudging(state)
        if not waiting:
            if answer is not None:
                raise ResumeError(
                    f"{name_thread(thread_id)} has no question that waits for an answer; "
                    "resume it without one"
                )
            state = state if rejudging is None else apply_update(state, rejudging)
            return Resumption(state, None, rejudging=rejudging)
        interrupt, question = waiting[0]
        asked: OrchestratorState = {**state, "question": question}
        questions = tuple(each for _, each in waiting)
        if answer is None:
            return Resumption(asked, "wait", questions)
        command: Command[str] = Command(
            resume={interrupt.id: _check_answer(answer, interrupt, question, now)}
        )
        return Resumption(asked, command, questions)


def find_open_question(snapshot: StateSnapshot, state: OrchestratorState) -> Question | None:
    """Returns the question that the next answer is for: the first that waits, in the order of the plan."""
    asked: OrchestratorState = {**state, "question": snapshot.values.get("question")}
    return next((question for _, question in _open_questions(snapshot, asked)), None)


def _resumable_state(thread_id: str, snapshot: StateSnapshot, max_retries: int) -> OrchestratorState:
    values: object = read_values(snapshot)
    if not snapshot.config.get("configurable", {}).get("checkpoint_id"):
        raise ResumeError(describe_unknown_thread(thread_id))
    needed = {"task", "status"} if START in snapshot.next else {"task", "status", "results"}
    if not isinstance(values, Mapping) or not needed <= set(values):
        raise ResumeError(f"{name_thread(thread_id)} holds no run of this program; give the thread of a run")
    if problem := schema_problem(thread_id, snapshot.metadata):
        raise ResumeError(problem)
    state = state_from_values(values, max_retries)
    # Not ``next``: it leaves out tasks that ended, but whose checkpoint was not stored before a kill.
    if not snapshot.tasks and values["status"] in UNDERWAY:
        raise ResumeError(
            f"{name_thread(thread_id)} waits at a node that this orchestrator does not have; "
            "resume it with the supervision, the retry_policy and the version that it was begun with"
        )
    if not snapshot.tasks and find_rejudging(state) is None:
        raise ResumeError(
            f"{name_thread(thread_id)} has ended as {str(values['status'])!r}; "
            "start a new run, on this thread or on another"
        )
    return state


def state_from_values(values: Mapping[str, object], max_retries: int) -> OrchestratorState:
    """Builds the state of a run from stored values.

    Before there is a plan, all values but the task belong to an earlier run on the thread.

    Raises:
        BrokenRunError: An earlier version executed the steps of the run side by side.
    """
    blank = blank_state(cast("str", values["task"]), max_retries)
    if values["status"] == "planning":
        return blank
    if cast("Mapping[str, object]", values.get("declared", {})).get("needs") is not None:
        raise BrokenRunError(
            "the run has steps that an earlier version executes side by side, and this version executes them "
            "one after another; use the version that began the run, or start a new run on another thread"
        )
    # A checkpoint may lack the fields that are stored as additions.
    return cast("OrchestratorState", {**blank, **{name: values[name] for name in blank if name in values}})


def read_values(snapshot: StateSnapshot) -> Mapping[str, object]:
    """Returns the values of a snapshot; if its next node is the planner, as planning, unless it is a re-plan.

    Without the mark, the values of an earlier run on the thread would be taken for the new run.
    """
    values: Mapping[str, object] = snapshot.values
    if not isinstance(values, Mapping) or not {START, PLANNER} & {*snapshot.next}:
        return values
    underway = values.get("underway")
    is_replan = isinstance(underway, Mapping) and underway.get("replan") is not None
    return values if is_replan and values.get("status") == "executing" else {**values, "status": "planning"}


def _open_questions(snapshot: StateSnapshot, state: OrchestratorState) -> list[tuple[Interrupt, Question]]:
    return [
        (interrupt, question_of(interrupt, state)) for task in snapshot.tasks for interrupt in task.interrupts
    ]


def question_of(interrupt: Interrupt, state: OrchestratorState) -> Question:
    """Returns the question of an interrupt; for an agent's own interrupt, in the same form."""
    value: object = interrupt.value
    if state["question"] is not None and value == state["question"]:
        return state["question"]
    if (asked := human.read_tool_question(value)) is not None:
        return asked
    review = human.read_review(value, interrupt.response_schema)
    index, step = current_step(state) if state["status"] == "executing" else (0, "")
    question = Question(
        id=interrupt.id,
        kind="agent",
        step_index=index,
        step=step,
        attempt=state["attempts"] + 1,
        text=human.describe_interrupt(value, review.calls),
        output="",
        findings=[],
        accepts=review.list_words(),
        asked_at="",
        problem=None,
    )
    return {**question, "tool_calls": [*review.calls]} if review.calls else question


def _check_answer(answer: object, interrupt: Interrupt, question: Question, now: datetime) -> object:
    """Returns the answer, for a tool call with its question, and for an agent's question in its form."""
    if question["kind"] == "agent":
        review = human.read_review(interrupt.value, interrupt.response_schema)
        return answer if review.takes(answer) else _decide_review(answer, review, question, now)
    # An agent within a tool asks again after a resume, and perhaps about other arguments.
    named = human.add_question_id(answer, question) if question["kind"] == "tool" else answer
    problem = human.read_answer(named, question, now)
    if isinstance(problem, str):
        raise ResumeError(f"{problem}; the question is still open")
    return named


def _decide_review(answer: object, review: human.Review, question: Question, now: datetime) -> object:
    if question["accepts"]:
        read = human.read_answer(answer, question, now)
    else:
        read = f"the answer is {format_repr(answer, 120)}; give {review.form}"
    if isinstance(read, str):
        others = f", or {review.form}" if question["accepts"] else ""
        raise ResumeError(f"{read}{others}; the question is still open")
    return review.decide(read["answer"], read["text"])


_UNJUDGED: Final[frozenset[FailureKind]] = frozenset(
    {"monitor_error", "supervisor_error", "contract_error", "evaluation_error", "needs_review", "timeout"}
)
_OF_VERDICT: Final = frozenset({"feedback", "basis_reason", "evidence", "problems", "decision"})
"""The optional fields of a record that its judging adds."""
_WAY_ON: Final = "; `resume` judges it again and executes nothing"


def find_rejudging(state: OrchestratorState) -> StateUpdate | None:
    """Returns the update by which a run goes on after the executor, so that it is judged again.

    None if it has not ended, or ended for another reason.
    """
    if not _lacks_verdict(state):
        return None
    records = current_records(state)
    return {
        "status": "executing",
        "failure": None,
        records_field(state): [_remove_verdict(records[-1])],
        "attempts": len(records) - 1,
    }


def name_way_on(state: OrchestratorState, update: StateUpdate) -> StateUpdate:
    """Returns the update that ends a run; its failure says so if the run can be judged again."""
    failure = update.get("failure")
    if failure is None or not _lacks_verdict(apply_update(state, update)):
        return update
    return {**update, "failure": {**failure, "message": f"{failure['message']}{_WAY_ON}"}}


def _lacks_verdict(state: OrchestratorState) -> bool:
    """Returns whether a run ended at an execution that only lacks a verdict."""
    failure, records = state["failure"], current_records(state)[-1:]
    if failure is None or failure["kind"] not in _UNJUDGED:
        return False
    # An error in a record is the executor's; that of a judge is in the failure alone.
    return any(record["status"] == "needs_review" and record["error"] is None for record in records)


def _remove_verdict(record: Attempt) -> Attempt:
    kept = {name: value for name, value in record.items() if name not in _OF_VERDICT}
    supervision = record["supervision"]
    if supervision is not None:
        supervision = {**supervision, "triggers": [], "verdict": None}
    reset = {"status": "pending_validation", "verdict": None, "report": None, "basis": "unverified"}
    return cast("Attempt", {**kept, **reset, "warnings": [], "supervision": supervision})


SAFEGUARDS: Final = "orchestrator_safeguards"
"""The key of a checkpoint's metadata that has them, as JSON."""
_DEFAULTS: Final[Mapping[str, Json]] = {"grounding": "facts"}
_ADDRESS: Final = re.compile(r" at 0x[0-9a-f]+")
"""The part of the text of an object that differs in each process."""


def describe_safeguards(given: Mapping[str, object], settings: Settings) -> dict[str, Json]:
    """Describes the safeguards of an orchestrator: plain values as they are, the rest by a name or a digest.

    Args:
        given: The arguments of the orchestrator, which are valid.
        settings: Its settings.

    The contract of a task that is derived or a case is stored in the state of the run.
    """
    options = settings.options
    tools, contract = read_acting_tools(given.get("acting_tools")).stated, given.get("contract")
    values: dict[str, Json] = {
        "acting_tools": {name: plain_json(_name_values(asdict(tool))) for name, tool in tools.items()},
        "executor": plain_json(given.get("executor")),
        "require": options["require"],
        "grounding": options["grounding"],
        "supervision": None if options["supervision"] == "none" else _name(options["supervision"]),
        "budget": options["budget"].model_dump(mode="json", exclude={"prices"}, exclude_none=True),
        "checks": {
            check.name: _name(check.function)
            for check in cast("Sequence[FunctionCheck]", given.get("checks", ()))
        },
        "contract": _name(contract) if isinstance(contract, EvaluationContract | Mapping) else None,
        **{name: _name(given.get(name)) for name in ("output_type", "judge", "step_contract")},
    }
    # Each checkpoint has them, so those that nobody has set are left out.
    return {name: value for name, value in values.items() if value and value != _DEFAULTS.get(name)}


def list_changed(stored: object, current: Mapping[str, Json]) -> list[str]:
    """Lists the safeguards of a run that an orchestrator lacks or changes, a sentence each.

    Args:
        stored: The JSON text in the metadata of the run.
        current: The safeguards of the orchestrator.
    """
    before = {**_DEFAULTS, **(json.loads(stored) if isinstance(stored, str) else {})}
    now = {**_DEFAULTS, "executor": "of another kind", **current}
    return [
        _describe_change(name, now.get(name), value)
        for name, value in before.items()
        if now.get(name) != value
    ]


def _describe_change(name: str, now: Json, before: Json) -> str:
    """Describes the first difference: of ``acting_tools``, that of the first tool that differs."""
    if isinstance(before, dict) and isinstance(now, dict | None) and (before or now):
        after = now or {}
        key = next(each for each in (*before, *after) if after.get(each) != before.get(each))
        if key in after:
            return _describe_change(f"{name}.{key}", after[key], before.get(key))
        return f"{name} is without {key!r}, and the run began with {format_repr(before[key], 200)}"
    return f"{name} is {format_repr(now, 80)}, and the run began with {format_repr(before, 80)}"


def _name_values(values: Mapping[str, object]) -> dict[str, object]:
    return {name: _name(value) if callable(value) else value for name, value in values.items()}


def _name(value: object) -> str | None:
    """Names a contract by a digest, a function also by what it does, and other objects by their class."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, EvaluationContract | Mapping):
        text = json.dumps(Contract.read(value).plain, sort_keys=True, default=format_text)
        return f"contract {_digest(text)}"
    named = value if hasattr(value, "__qualname__") else type(value)
    held = [*_list_held(value)]
    done = f" {_digest(_ADDRESS.sub('', chr(0).join(held)))}" if held else ""
    return f"{named.__module__}.{named.__qualname__}{done}"


def _digest(text: str) -> str:
    return hashlib.md5(text.encode("utf-8", "replace"), usedforsecurity=False).hexdigest()


def _list_held(value: object) -> Iterator[str]:
    """Yields the code and the values of a function; an object that it holds is told by its text."""
    if isinstance(value, partial):
        yield from (*_list_held(value.func), repr(value.args), repr(value.keywords))
    elif isinstance(value, FunctionType | MethodType):
        function = value.__func__ if isinstance(value, MethodType) else value
        yield from _list_code(function.__code__)
        cells = [cell.cell_contents for cell in function.__closure__ or ()]
        yield from map(_format_held, (function.__defaults__, function.__kwdefaults__, *cells))


def _list_code(code: CodeType) -> Iterator[str]:
    yield from (code.co_code.hex(), *code.co_names)
    for each in code.co_consts:
        yield from _list_code(each) if isinstance(each, CodeType) else [_format_held(each)]


def _format_held(value: object) -> str:
    # The order of a set of texts differs in each process.
    return repr(sorted(value, key=repr) if isinstance(value, set | frozenset) else value)
