"""Starts, answers, continues and ends runs, for pages and for programs; and what every route needs for it."""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import Annotated, Final, TypeAlias

from fastapi import Depends
from pydantic import BaseModel, ConfigDict, Field, JsonValue
from starlette.requests import Request

from agents.reply_types import AnswerWord
from orchestrator.errors import ConfigurationError, StoreError
from orchestrator.persistence import History, RunSummary, StoredRun
from orchestrator.runs.run_saver import RunSaver
from orchestrator.serving.live.event_feed import EventFeed
from orchestrator.serving.live.run_sessions import Name, NewRun, RunBuilder, RunSessions
from orchestrator.serving.request_guard import ServerOptions
from orchestrator.serving.responses import KNOWN_ERRORS, RequestProblem
from orchestrator.serving.views.run_view import find_last_answer
from orchestrator.settings import check_task
from orchestrator.state.records import Question
from orchestrator.supervision.human import is_overdue, read_answer


@dataclass(frozen=True, slots=True)
class ServerContext:
    """The parts of a server.

    Attributes:
        history: The stored runs.
        saver: The saver of the store.
        options: Who may reach the server.
        builder: Builds orchestrators.
        feed: The events of the runs.
        sessions: The runs that this process executes.
        starting: Held while a run starts by its key, so that a repeated request meets it.
    """

    history: History
    saver: RunSaver
    options: ServerOptions
    builder: RunBuilder
    feed: EventFeed
    sessions: RunSessions
    starting: asyncio.Lock = field(default_factory=asyncio.Lock)

    def find_run(self, thread_id: str) -> RunSummary:
        """Returns the summary of a run; raises RequestProblem with 404 if there is none."""
        if (run := self.history.find(thread_id)) is None:
            raise RequestProblem(404, f"there is no run {thread_id!r}; /runs lists the runs")
        return run

    def show_run(self, thread_id: str) -> StoredRun:
        """Returns a run with its state; raises RequestProblem with 404 if there is none."""
        self.find_run(thread_id)
        return self.history.show(thread_id)


def get_context(request: Request) -> ServerContext:
    """Returns the parts of the server that answers a request."""
    context: ServerContext = request.app.state.context
    return context


Context: TypeAlias = Annotated[ServerContext, Depends(get_context)]


_KEYS: Final = uuid.UUID("6f1c7a52-7d58-4d0c-9a3e-2f0b6d6c1c55")
"""The namespace of the names of runs that were started with a key."""
_LONGEST_END_S: Final = 1.0
_LONGEST_WAIT_S: Final = 5.0
_PAUSE_S: Final = 0.02
_LOOK_S: Final = 2.0
"""How often the deadlines of questions are looked at."""
_log: Final = logging.getLogger(__name__)


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


async def start_run(context: ServerContext, run: NewRun, key: str | None = None) -> tuple[str, bool]:
    """Starts a run, and returns its name and whether it is new.

    Args:
        context: The server.
        run: What to do.
        key: The same key starts the same run once, also after a restart of the server.

    Raises:
        RequestProblem: The name has a run.
        ConfigurationError: The run is not accepted.
    """
    task = check_task(run.task)
    made = uuid.uuid4() if key is None else uuid.uuid5(_KEYS, key)
    thread_id = run.thread_id or str(made)
    # A repeated request waits for the first one, and then finds its run.
    async with nullcontext() if key is None else context.starting:
        known = await asyncio.to_thread(context.history.find, thread_id)
        if known is None:
            await context.sessions.start(run.model_copy(update={"task": task}), thread_id)
            await _wait_until(context, thread_id, lambda stored: stored is not None)
            return thread_id, True
    if key is None or known.task != task:
        what = "this name has a run" if key is None else "this key started a run with another task"
        raise RequestProblem(409, f"{what}: {thread_id!r}; give another one")
    return thread_id, False


async def answer_question(context: ServerContext, thread_id: str, given: GivenAnswer) -> None:
    """Answers the open question of a run, and returns when the answer is stored and the run goes on.

    Raises:
        RequestProblem: The question is closed, the answer is not accepted, or the run cannot go on here.
    """
    # A question is stored a moment before the run that asked it has ended and released its lock.
    await context.sessions.wait_for_end(thread_id, _LONGEST_END_S)
    run = await asyncio.to_thread(context.find_run, thread_id)
    question = run.question
    if run.status != "waiting" or question is None or question["id"] != given.question:
        raise RequestProblem(409, await asyncio.to_thread(_describe_closed, context, thread_id))
    if is_overdue(question, datetime.now(UTC)):
        word = question["on_deadline"]
        raise RequestProblem(409, f"the deadline of the question has passed; the run goes on with {word!r}")
    await continue_run(context, thread_id, _read_given(given, question))
    await _wait_until(context, thread_id, partial(_is_answered, question["id"]))


async def watch_deadlines(context: ServerContext) -> None:
    """Resumes each run whose question nobody answered in time, with its ``on_deadline`` as the answer.

    Ends only if it is cancelled.
    """
    while True:
        try:
            await _resume_overdue(context)
        except StoreError as error:
            _log.warning("the deadlines of questions cannot be read: %s", error)
        await asyncio.sleep(_LOOK_S)


async def _resume_overdue(context: ServerContext) -> None:
    waiting = await asyncio.to_thread(context.history.runs, status="waiting")
    now = datetime.now(UTC)
    for run in waiting:
        if run.question is not None and is_overdue(run.question, now):
            try:
                await context.sessions.resume(run.thread_id)
            except KNOWN_ERRORS as error:  # its tools are missing, or it is being run
                _log.info("the run %r does not go on after its deadline: %s", run.thread_id, error)


async def continue_run(context: ServerContext, thread_id: str, answer: object = None) -> None:
    """Resumes a run.

    Raises:
        RequestProblem: It cannot go on here, or another process or answer continues it at this moment.
        ResumeError: There is nothing to resume, or the answer is not accepted.
    """
    if (problem := await asyncio.to_thread(context.builder.find_problem, thread_id)) is not None:
        run = await asyncio.to_thread(context.find_run, thread_id)
        command = await asyncio.to_thread(context.builder.describe_next, thread_id, run.question)
        raise RequestProblem(409, f"the run cannot go on here: {problem}; {command}")
    try:
        await context.sessions.resume(thread_id, answer)
    except ConfigurationError as error:  # its lock is held
        who = "another answer or process continues it" if answer is not None else "it is being run"
        raise RequestProblem(409, f"{who}; load the page again ({error})") from None


def _read_given(given: GivenAnswer, question: Question) -> object:
    if question["kind"] == "agent":
        return given.text if given.value is None else given.value
    fields = given.model_dump(include={"question", "answer", "text", "answered_by"})
    answer = {name: value for name, value in fields.items() if value}
    problem = read_answer(answer, question, datetime.now(UTC))
    if isinstance(problem, str):
        raise RequestProblem(422, problem)
    return answer


def _describe_closed(context: ServerContext, thread_id: str) -> str:
    try:
        answer = find_last_answer(context.history.show(thread_id).state)
    except StoreError:
        answer = None
    if answer is None:
        return "the question is closed: the run no longer waits for this answer"
    return f"the question is closed: {answer['answered_by']} answered {answer['answer']!r} before"


async def _wait_until(
    context: ServerContext, thread_id: str, is_reached: Callable[[RunSummary | None], bool]
) -> None:
    """Waits until the store has what a client is told, so that a kill of the server cannot lose it."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + _LONGEST_WAIT_S
    while loop.time() < deadline:
        if is_reached(await asyncio.to_thread(context.history.find, thread_id)):
            return
        await asyncio.sleep(_PAUSE_S)


def _is_answered(question_id: str, run: RunSummary | None) -> bool:
    question = None if run is None else run.question
    return question is None or question["id"] != question_id


async def fork_run(context: ServerContext, thread_id: str, step: int, new_thread_id: str | None) -> str:
    """Forks a run from before a step, counted from 1, and returns the name of the new run.

    Raises:
        RequestProblem: There is no such run, or it cannot go on here.
        ResumeError: It never reached the step, or the new name is in use.
    """
    await asyncio.to_thread(context.find_run, thread_id)
    name = new_thread_id or str(uuid.uuid4())
    await context.sessions.fork(thread_id, step - 1, name)
    await _wait_until(context, name, lambda stored: stored is not None)
    return name


async def cancel_run(context: ServerContext, thread_id: str, person: str) -> None:
    """Ends a run for good, as failed.

    Raises:
        RequestProblem: There is no such run, it has ended, or another process executes it.
    """
    run = await asyncio.to_thread(context.find_run, thread_id)
    if run.status in ("success", "failed", "unreadable"):
        raise RequestProblem(409, f"the run is {run.status}; only a run that has not ended can be cancelled")
    try:
        await context.sessions.cancel(thread_id, f"cancelled by {person or 'a person'}")
    except ConfigurationError as error:
        raise RequestProblem(409, str(error)) from None


async def delete_run(context: ServerContext, thread_id: str) -> None:
    """Deletes a run that is not being run.

    Raises:
        RequestProblem: There is no such run.
        StoreError: It is being run.
    """
    await asyncio.to_thread(context.find_run, thread_id)
    await asyncio.to_thread(context.history.delete, thread_id)
    context.feed.drop(thread_id)
