"""The open questions of all runs, the oldest first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, cast

from orchestrator.errors import StoreError
from orchestrator.persistence import History, RunSummary
from orchestrator.serving.views.run_view import AttemptView, find_attempt
from orchestrator.state.records import Question

MOST_QUESTIONS: Final = 100


@dataclass(frozen=True, slots=True)
class OpenQuestion:
    """A question that waits for a person.

    Attributes:
        thread_id: The run that asks.
        task: Its task.
        question: As the run asks it.
        attempt: The execution in question, with its checks; None for a call that has not run.
        problem: The reason why this server cannot resume the run; empty if it can.
        command: What resumes it elsewhere; empty if this server can.
    """

    thread_id: str
    task: str
    question: Question
    attempt: AttemptView | None
    problem: str = ""
    command: str = ""


def list_questions(history: History) -> list[OpenQuestion]:
    """Returns the open questions, the oldest first, at most ``MOST_QUESTIONS``.

    Raises:
        StoreError: The store cannot be read.
    """
    waiting = [run for run in history.runs(status="waiting") if run.question is not None]
    return [read_question(history, run) for run in sorted(waiting, key=_find_time)[:MOST_QUESTIONS]]


def read_question(history: History, run: RunSummary) -> OpenQuestion:
    """Returns the question of a run that waits, with the execution that it is about."""
    question = cast("Question", run.question)
    try:
        state = history.show(run.thread_id).state
    except StoreError:  # answered, and deleted meanwhile
        return OpenQuestion(run.thread_id, run.task, question, None)
    attempt = find_attempt(state, question["step_index"], question["attempt"])
    return OpenQuestion(run.thread_id, run.task, question, attempt)


def _find_time(run: RunSummary) -> str:
    asked = "" if run.question is None else run.question["asked_at"]
    # An agent's own question has no time; its run was stored with it.
    return asked or run.updated.isoformat()
