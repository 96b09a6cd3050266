"""From what a thread holds, and an answer, to what the graph goes on with; pure functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal, cast

from langgraph.types import Command, Interrupt, StateSnapshot

from orchestrator.asking import overdue, read_answer
from orchestrator.errors import ResumeError
from orchestrator.foreign_values import shown
from orchestrator.state import OrchestratorState, Question

_QUESTION: Final = frozenset(Question.__annotations__)


@dataclass(frozen=True, slots=True)
class Resumption:
    """What to go on with.

    Attributes:
        state: What the thread holds.
        input: What the graph is given; "wait" where nothing can be done before there is an answer.
    """

    state: OrchestratorState
    input: Command[str] | Literal["wait"] | None


def resumption(thread_id: str, snapshot: StateSnapshot, answer: object, now: datetime) -> Resumption:
    """Decide how a thread goes on.

    Args:
        thread_id: Names it.
        snapshot: What it holds.
        answer: A person's answer, or None.
        now: The time, in UTC.

    Raises:
        ResumeError: There is nothing to go on with, or the answer is none.
    """
    state = _held(thread_id, snapshot)
    waiting = _waiting(snapshot)
    if not waiting:
        if answer is not None:
            raise ResumeError(
                f"thread {thread_id!r} has no question that waits for an answer; resume it without one"
            )
        return Resumption(state, None)
    interrupt, question = waiting[0]
    asked: OrchestratorState = {**state, "question": question}
    if answer is None:
        return Resumption(asked, _unanswered(snapshot, interrupt, question, now))
    return Resumption(asked, Command(resume={interrupt.id: _checked(answer, question, now)}))


def question_of(interrupts: Sequence[Interrupt], state: OrchestratorState) -> Question:
    """The first question that waits: one of ours, or an agent's own interrupt in the same shape."""
    return _question(interrupts[0], state)


def _held(thread_id: str, snapshot: StateSnapshot) -> OrchestratorState:
    values = snapshot.values
    if not snapshot.config.get("configurable", {}).get("checkpoint_id"):
        raise ResumeError(f"thread {thread_id!r} is not in this store; run() begins a thread")
    if not isinstance(values, Mapping) or not {"task", "status", "results", "underway"} <= set(values):
        raise ResumeError(f"thread {thread_id!r} holds no run of this program; give the thread of a run")
    if not snapshot.next:
        raise ResumeError(
            f"thread {thread_id!r} has ended as {values['status']!r}; run() begins anew, on it or on another"
        )
    return cast("OrchestratorState", {name: values.get(name) for name in OrchestratorState.__annotations__})


def _waiting(snapshot: StateSnapshot) -> list[tuple[Interrupt, Question]]:
    state = cast("OrchestratorState", snapshot.values)
    return [(one, _question(one, state)) for task in snapshot.tasks for one in task.interrupts]


def _question(interrupt: Interrupt, state: OrchestratorState) -> Question:
    value: object = interrupt.value
    if isinstance(value, Mapping) and set(value) == _QUESTION:
        return cast("Question", dict(value))
    plan, index = state["plan"], state["current_step_index"]
    return Question(
        id=interrupt.id,
        kind="agent",
        step_index=index,
        step=plan[index] if index < len(plan) else "",
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
    if overdue(question, now):
        return Command(resume={interrupt.id: {}})
    return "wait" if all(task.interrupts for task in snapshot.tasks) else None


def _checked(answer: object, question: Question, now: datetime) -> object:
    """The answer as it was given; an agent's own question takes anything."""
    if question["kind"] == "agent":
        return answer
    read = read_answer(answer, question, now)
    if isinstance(read, str):
        raise ResumeError(f"{read}; the question is still open")
    return answer
