"""Starts, answers, continues, forks, shows and ends the runs of a store, for pages and for programs."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import AsyncGenerator, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from agents.reply_types import AnswerWord
from orchestrator.errors import ConfigurationError, ResumeError, StoreError
from orchestrator.persistence import History, RunSummary, StoredRun
from orchestrator.service.executions import Execution, Name, NewRun, RunSessions
from orchestrator.service.run_view import StoredEvent, list_events
from orchestrator.settings import check_task
from orchestrator.state.graph_state import ENDED
from orchestrator.state.plain_values import name_thread
from orchestrator.state.records import Question
from orchestrator.supervision.human import read_answer

_LONGEST_END_S: Final = 1.0
_LONGEST_WAIT_S: Final = 5.0
_PAUSE_S: Final = 0.02
_POLL_S: Final = 1.0
"""How often the store is read for a run that a client follows."""


class UnknownRunError(ResumeError):
    """There is no run of this name."""


class RunConflictError(ResumeError):
    """The run is in another state than the request is for; nothing has changed."""


class GivenAnswer(BaseModel):
    """The answer to a question.

    Attributes:
        question: The id of the question, so that the answer counts for no other one.
        answer: One of the words that the question accepts; None for an agent's own question.
        text: The correction, or the reason.
        answered_by: Who answers; it is kept with the run.
        value: The answer to an agent's own question, which may be any JSON value.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    question: Name
    answer: AnswerWord | None = None
    text: Annotated[str, Field(max_length=20_000)] = ""
    answered_by: Annotated[str, Field(max_length=200)] = ""
    value: JsonValue = None


def check_unused(history: History, thread_id: str) -> None:
    """Refuses to start a run on a thread that has one, because that run would be lost.

    Raises:
        RunConflictError: The thread has a run, or one that cannot be read.
    """
    if (run := history.find(thread_id)) is not None:
        raise RunConflictError(
            f"{name_thread(thread_id)} has a run ({run.status}); give another name, or resume or "
            "delete that run"
        )


@dataclass(frozen=True, slots=True)
class RunService:
    """The runs of a store that people and programs start, answer and end.

    Attributes:
        history: The stored runs.
        sessions: The runs that this process executes, and what builds their orchestrators.
        closing: Set when the server ends, so that no client follows a run any longer.
    """

    history: History
    sessions: RunSessions
    closing: asyncio.Event = field(default_factory=asyncio.Event)
    _starting: asyncio.Lock = field(default_factory=asyncio.Lock)

    def find(self, thread_id: str) -> RunSummary:
        """Returns the summary of a run; raises UnknownRunError if there is none."""
        if (run := self.history.find(thread_id)) is None:
            raise UnknownRunError(f"there is no run {thread_id!r}; give a name from the list of runs")
        return run

    def show(self, thread_id: str) -> StoredRun:
        """Returns a run with its state; raises UnknownRunError if there is none."""
        self.find(thread_id)
        return self.history.show(thread_id)

    async def follow(self, thread_id: str) -> AsyncGenerator[StoredEvent, None]:
        """Yields the events of a run as they are stored, also by another process, until it has ended."""
        sent: set[str] = set()
        while not self.closing.is_set() and "end" not in sent:
            start = time.monotonic()
            for event in await asyncio.to_thread(self._list_events, thread_id):
                if event.key not in sent:
                    sent.add(event.key)
                    yield event
            # A long run takes long to read, which the server does for a fifth of its time at most.
            pause_s = max(_POLL_S, 4 * (time.monotonic() - start))
            with suppress(TimeoutError):
                await asyncio.wait_for(self.closing.wait(), pause_s)

    def _list_events(self, thread_id: str) -> list[StoredEvent]:
        try:
            return [*list_events(self.history.show(thread_id))]
        except StoreError:  # deleted, or of another version
            return [StoredEvent("end", "end", {})]

    async def start(self, run: NewRun) -> str:
        """Starts a run in the background, and returns its name.

        Raises:
            RunConflictError: The name has a run.
            ConfigurationError: The task is not accepted.
        """
        thread_id = run.thread_id or str(uuid.uuid4())
        checked = run.model_copy(update={"task": check_task(run.task)})
        async with self._starting:  # of two requests with one name, the second finds the run of the first
            await asyncio.to_thread(check_unused, self.history, thread_id)
            await self.sessions.begin(Execution.of_new(self.sessions.builder, checked, thread_id))
            await self._wait_until(thread_id, lambda stored: stored is not None)
        return thread_id

    async def answer(self, thread_id: str, given: GivenAnswer) -> None:
        """Answers the open question of a run, and returns when the answer is stored and the run goes on.

        Raises:
            RunConflictError: The question is closed, or the run cannot go on here.
            ConfigurationError: The answer is not accepted.
        """
        # A question is stored a moment before the run that asked it has ended and released its lock.
        await self.sessions.wait_for_end(thread_id, _LONGEST_END_S)
        question = await asyncio.to_thread(self._find_question, thread_id, given.question)
        await self.resume(thread_id, _read_given(given, question))
        await self._wait_until(thread_id, lambda run: _find_question_id(run) != question["id"])

    def _find_question(self, thread_id: str, question_id: str) -> Question:
        """Returns the open question of a run.

        Raises:
            UnknownRunError: There is no such run.
            RunConflictError: The question is closed.
        """
        run = self.find(thread_id)
        if run.status == "waiting" and run.question and question_id == run.question["id"]:
            return run.question
        raise RunConflictError("the question is closed: the run no longer waits for this answer")

    async def resume(self, thread_id: str, answer: object = None) -> None:
        """Resumes a run.

        Raises:
            UnknownRunError: There is no such run.
            RunConflictError: It cannot go on here, or another process or answer continues it at this moment.
            ResumeError: There is nothing to resume, or the answer is not accepted.
        """
        await asyncio.to_thread(self.find, thread_id)
        if (problem := await asyncio.to_thread(self.sessions.builder.find_problem, thread_id)) is not None:
            raise RunConflictError(f"the run cannot go on here: {problem}")
        try:
            await self.sessions.begin(Execution.of_stored(self.sessions.builder, thread_id, answer))
        except ConfigurationError as error:  # its lock is held
            raise RunConflictError(f"it is being run; load the page again ({error})") from None

    async def fork(self, thread_id: str, step: int, new_thread_id: str | None) -> str:
        """Forks a run from before a step, counted from 1, and returns the name of the new run.

        Raises:
            UnknownRunError: There is no such run.
            RunConflictError: It cannot go on here.
            ResumeError: It never reached the step, or the new name is in use.
        """
        await asyncio.to_thread(self.find, thread_id)
        name = new_thread_id or str(uuid.uuid4())
        await self.sessions.begin(Execution.of_fork(self.sessions.builder, thread_id, step - 1, name))
        await self._wait_until(name, lambda stored: stored is not None)
        return name

    async def cancel(self, thread_id: str, person: str = "") -> None:
        """Ends a run for good, as failed.

        Raises:
            UnknownRunError: There is no such run.
            RunConflictError: It has ended, or another process executes it.
        """
        run = await asyncio.to_thread(self.find, thread_id)
        if run.status in {*ENDED, "unreadable"}:
            raise RunConflictError(f"the run is {run.status}; only a run that has not ended can be cancelled")
        try:
            await self.sessions.cancel(thread_id, f"cancelled by {person or 'a person'}")
        except ConfigurationError as error:
            raise RunConflictError(str(error)) from None

    async def delete(self, thread_id: str) -> None:
        """Deletes a run that is not being run.

        Raises:
            UnknownRunError: There is no such run.
            StoreError: It is being run.
        """
        await asyncio.to_thread(self.find, thread_id)
        await asyncio.to_thread(self.history.delete, thread_id)

    async def _wait_until(self, thread_id: str, is_reached: Callable[[RunSummary | None], bool]) -> None:
        """Waits until the store has the answer to a client, so that a kill of the server cannot lose it."""
        deadline = time.monotonic() + _LONGEST_WAIT_S
        while time.monotonic() < deadline:
            if is_reached(await asyncio.to_thread(self.history.find, thread_id)):
                return
            await asyncio.sleep(_PAUSE_S)


def _read_given(given: GivenAnswer, question: Question) -> object:
    if question["kind"] == "agent" and not (given.answer and question["accepts"]):
        return given.text if given.value is None else given.value
    fields = given.model_dump(include={"question", "answer", "text", "answered_by"})
    answer = {name: value for name, value in fields.items() if value}
    problem = read_answer(answer, question, datetime.now(UTC))
    if isinstance(problem, str):
        raise ConfigurationError(problem)
    return answer


def _find_question_id(run: RunSummary | None) -> str | None:
    return None if run is None or run.question is None else run.question["id"]
