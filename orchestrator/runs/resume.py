"""From what a thread holds, and an answer, to what the graph goes on with; pure functions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal, cast

from langgraph.constants import START
from langgraph.types import Command, Interrupt, PregelTask, StateSnapshot

from orchestrator.errors import ResumeError
from orchestrator.state.current_step import current_step
from orchestrator.state.graph_state import ADDED_TO, BRANCH, OrchestratorState, Question, blank_state
from orchestrator.state.plain_values import shown
from orchestrator.state.stored_form import checked_state, schema_problem
from orchestrator.supervision.human import is_overdue, read_answer

PLANNER: Final = "planner_node"
"""The node with which a run begins."""


@dataclass(frozen=True, slots=True)
class Resumption:
    """What to go on with.

    Attributes:
        state: What the thread holds.
        input: What the graph is given; "wait" where nothing can be done before there is an answer.
        branches: What steps that run side by side have come to so far.
    """

    state: OrchestratorState
    input: Command[str] | Literal["wait"] | None
    branches: tuple[OrchestratorState, ...] = ()


def resumption(
    thread_id: str, snapshot: StateSnapshot, answer: object, now: datetime, max_retries: int
) -> Resumption:
    """Decide how a thread goes on.

    Args:
        thread_id: Names it.
        snapshot: What it holds, with what the graphs within it hold.
        answer: A person's answer, or None.
        now: The time, in UTC.
        max_retries: Of a run that had not come to a plan.

    Raises:
        ResumeError: There is nothing to go on with, or the answer is none.
        BrokenRunError: What the thread holds has not the form of a run.
    """
    state, branches = _held(thread_id, snapshot, max_retries), tuple(_branches(snapshot))
    waiting = _waiting(snapshot, state)
    if not waiting:
        if answer is not None:
            raise ResumeError(
                f"thread {thread_id!r:.80} has no question that waits for an answer; resume it without one"
            )
        return Resumption(state, None, branches)
    interrupt, question = waiting[0]
    asked: OrchestratorState = {**state, "question": question}
    if answer is None:
        return Resumption(asked, _unanswered(snapshot, interrupt, question, now), branches)
    checked: Command[str] = Command(resume={interrupt.id: _checked(answer, question, now)})
    return Resumption(asked, checked, branches)


def open_question(snapshot: StateSnapshot, state: OrchestratorState) -> Question | None:
    """The first question that waits, by the order of the plan: the one that the next answer is for.

    It is one of ours, or an agent's own interrupt in the same shape.
    """
    held: OrchestratorState = {**state, "question": snapshot.values.get("question")}
    return next((question for _, question in _waiting(snapshot, held)), None)


def _held(thread_id: str, snapshot: StateSnapshot, max_retries: int) -> OrchestratorState:
    values: object = snapshot.values
    if isinstance(values, Mapping) and {START, PLANNER} & {*snapshot.next}:
        values = begun(values)
    if not snapshot.config.get("configurable", {}).get("checkpoint_id"):
        raise ResumeError(f"thread {thread_id!r:.80} is not in this store; run() begins a thread")
    needed = {"task", "status"} if START in snapshot.next else {"task", "status", "results"}
    if not isinstance(values, Mapping) or not needed <= set(values):
        raise ResumeError(f"thread {thread_id!r:.80} holds no run of this program; give the thread of a run")
    if problem := schema_problem(thread_id, cast("Mapping[str, object]", snapshot.metadata or {})):
        raise ResumeError(problem)
    # Not ``next``, which leaves out what was done but is in no checkpoint yet when a process is killed.
    if not snapshot.tasks and values["status"] in ("planning", "executing"):
        raise ResumeError(
            f"thread {thread_id!r:.80} waits where this orchestrator has no node; resume it with the "
            "supervision and the retry_policy that it was begun with"
        )
    if not snapshot.tasks:
        raise ResumeError(
            f"thread {thread_id!r:.80} has ended as {values['status']!r}; "
            "run() begins anew, on it or on another"
        )
    return state_in(thread_id, values, max_retries)


def state_in(thread_id: str, values: Mapping[str, object], max_retries: int) -> OrchestratorState:
    """The state of a run, from what its thread holds: before the plan, that is of an earlier one.

    Raises:
        BrokenRunError: It has not the form of one.
    """
    blank = blank_state(cast("str", values["task"]), max_retries)
    if values["status"] == "planning":
        return checked_state(thread_id, blank)
    added: dict[str, object] = {name: blank[name] for name in ADDED_TO}
    return checked_state(thread_id, {**added, **{name: values[name] for name in blank if name in values}})


def begun(values: Mapping[str, object]) -> Mapping[str, object]:
    """The values of a thread whose planner is what comes next: without what an earlier run came to."""
    underway = values.get("underway")
    again = isinstance(underway, Mapping) and underway.get("replan") is not None
    return values if again and values.get("status") == "executing" else {**values, "status": "planning"}


def _branches(snapshot: StateSnapshot) -> Iterator[OrchestratorState]:
    for task in snapshot.tasks:
        branch = _branch(task)
        if branch is not None:
            yield branch


def _branch(task: PregelTask) -> OrchestratorState | None:
    """The state of a step that runs beside others; agents may have graphs of their own."""
    if task.name != BRANCH or not isinstance(task.state, StateSnapshot):
        return None
    # Cut off as it began, it holds nothing yet, or a part.
    begun = set(OrchestratorState.__annotations__) <= set(task.state.values)
    thread_id: str = task.state.config["configurable"]["thread_id"]
    return checked_state(thread_id, task.state.values) if begun else None


def _waiting(snapshot: StateSnapshot, state: OrchestratorState) -> list[tuple[Interrupt, Question]]:
    return [
        (one, question_of(one, _branch(task) or state))
        for task in snapshot.tasks
        for one in task.interrupts
        if isinstance(one, Interrupt)  # whatever was stored as one
    ]


def question_of(interrupt: Interrupt, state: OrchestratorState) -> Question:
    """What an interrupt asks about the current step: ours, or an agent's own in the same shape."""
    value: object = interrupt.value
    if state["question"] is not None and value == state["question"]:
        return state["question"]
    index, step = current_step(state) if state["status"] == "executing" else (0, "")
    return Question(
        id=interrupt.id,
        kind="agent",
        step_index=index,
        step=step,
        attempt=state["attempts"] + 1,
        text=shown(value, 2000) if not isinstance(value, str) else value,
        output="",
        findings=[],
        accepts=[],
        asked_at="",
        deadline=None,
        on_deadline="deny",
        problem=None,
    )


def _unanswered(
    snapshot: StateSnapshot, interrupt: Interrupt, question: Question, now: datetime
) -> Command[str] | Literal["wait"] | None:
    """Without an answer: what the deadline says, else whatever else is left to do, else nothing."""
    if is_overdue(question, now):
        return Command(resume={interrupt.id: {}})
    return "wait" if all(task.interrupts or task.result for task in snapshot.tasks) else None


def _checked(answer: object, question: Question, now: datetime) -> object:
    """The answer as it was given; an agent's own question takes anything."""
    if question["kind"] == "agent":
        return answer
    read = read_answer(answer, question, now)
    if isinstance(read, str):
        raise ResumeError(f"{read}; the question is still open")
    return answer
