"""The open questions of all runs, the oldest first."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from orchestrator.errors import StoreError
from orchestrator.persistence import History, RunSummary
from orchestrator.serving.live.run_builders import RunBuilder
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


@dataclass(slots=True)
class Inbox:
    """The open questions of a store. A run that waits does not change, so each is read once.

    Attributes:
        history: The stored runs.
        builder: Tells which runs can go on here.
    """

    history: History
    builder: RunBuilder
    _known: dict[tuple[str, str, str], OpenQuestion] = field(default_factory=dict)

    def list_questions(self) -> list[OpenQuestion]:
        """Returns the open questions, the oldest first, at most ``MOST_QUESTIONS``.

        Raises:
            StoreError: The store cannot be read.
        """
        waiting = [
            (run, run.question) for run in self.history.runs(status="waiting") if run.question is not None
        ]
        oldest = sorted(waiting, key=_find_time)[:MOST_QUESTIONS]
        keys = [(run.thread_id, question["id"], run.updated.isoformat()) for run, question in oldest]
        self._known = {
            key: self._known.get(key) or self._read(run, question)
            for key, (run, question) in zip(keys, oldest, strict=True)
        }
        return [*self._known.values()]

    def _read(self, run: RunSummary, question: Question) -> OpenQuestion:
        problem = self.builder.find_problem(run.thread_id)
        return OpenQuestion(
            thread_id=run.thread_id,
            task=run.task,
            question=question,
            attempt=self._find_attempt(run, question),
            problem=problem or "",
            command="" if problem is None else self.builder.describe_next(run.thread_id, question),
        )

    def _find_attempt(self, run: RunSummary, question: Question) -> AttemptView | None:
        if question["kind"] in ("tool", "agent"):  # asked during the execution, which has no record yet
            return None
        try:
            state = self.history.show(run.thread_id).state
        except StoreError:  # answered, and deleted meanwhile
            return None
        return find_attempt(state, question["step_index"], question["attempt"])


def _find_time(item: tuple[RunSummary, Question]) -> str:
    run, question = item
    # An agent's own question has no time; its run was stored with it.
    return question["asked_at"] or run.updated.isoformat()
