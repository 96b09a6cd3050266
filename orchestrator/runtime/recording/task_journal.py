"""Keeps the calls of an agent in LangGraph's tasks, so that a resumed execution does not repeat them.

Each request of the agent is a task of the node. LangGraph stores the result of a task, and runs no task again
that has returned. The order in which the tasks of a node start is their identity.
"""

from __future__ import annotations

import asyncio
import contextvars
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import AbstractContextManager, closing, nullcontext
from datetime import datetime
from functools import partial
from typing import Final, TypeAlias

from langchain_core.messages import BaseMessage, messages_from_dict, messages_to_dict
from langchain_core.runnables import RunnableConfig
from langgraph.errors import GraphInterrupt
from langgraph.func import task
from pydantic import TypeAdapter
from typing_extensions import TypedDict

from agents.calls.conversation import Request
from agents.calls.journal import CALL_JOURNAL, describe_request, join_messages, read_config, read_values
from agents.sync import run_in_thread
from orchestrator.errors import BrokenRunError, ResumeError
from orchestrator.runtime.langgraph_internals import copy_context_with, without_durability
from orchestrator.runtime.recording.call_recorder import RecordedCalls, collect_starts, read_recorder
from orchestrator.state.plain_values import format_one_line, format_text

Messages: TypeAlias = list[BaseMessage]
RunRequest: TypeAlias = Callable[[Request, contextvars.Context], Awaitable[Messages]]


class JournalEntry(TypedDict):
    """A request that has ended: its messages as JSON text, and the calls that it made.

    ``request`` describes it: with other options, a resumed step makes another request at its place.
    ``failed`` says that it raised, so that the agent made another one, or gave up.
    """

    request: str
    messages: str
    calls: RecordedCalls
    failed: bool
    ended_at: str


_ENTRY: Final = TypeAdapter(JournalEntry)
_OTHER_REQUEST: Final = (
    "the step under way was begun with other tools to approve or to run once; "
    "resume it with the approve_tools, the once_tools and the tools that it was begun with"
)


def read_messages(entry: JournalEntry, request: Request) -> Messages:
    """Returns the messages of a stored entry.

    Raises:
        BrokenRunError: The store holds something else.
        ResumeError: The entry belongs to another request.
    """
    try:
        _ENTRY.validate_python(entry, strict=True)
        messages = messages_from_dict(json.loads(entry["messages"]))
    except (ValueError, TypeError, LookupError, AttributeError) as error:
        raise BrokenRunError(
            f"the store holds a call of this step that is broken ({format_one_line(error)}); "
            "restore it, or delete the run"
        ) from error
    if entry["request"] != describe_request(request):
        raise ResumeError(_OTHER_REQUEST)
    return messages


@task
async def journaled_call(make: Callable[[], Awaitable[JournalEntry]]) -> JournalEntry:
    """Makes a request. LangGraph runs this only if it has no entry from an earlier start of the node."""
    return await make()


class TaskJournal:
    """The journal of one execution of a step: ``agents.calls.journal.CallJournal``. Build it in the node.

    Args:
        now: Returns the current time.
    """

    def __init__(self, now: Callable[[], datetime]) -> None:
        self._now = now
        self._ended_at: str | None = None
        self._loop = asyncio.get_running_loop()
        self._node = contextvars.copy_context()
        self._rounds: list[Future[Messages]] = []
        self._is_closed = False

    def read_time(self) -> str:
        """Returns when the last request ended, which is the same after a resume; else the time now."""
        return self._ended_at or self._now().isoformat()

    def close(self) -> None:
        """Ends the requests that are still open: the agent was left behind, or the run was interrupted."""
        self._is_closed = True
        for each in self._rounds:
            each.cancel()

    def run(self, requests: Sequence[Request]) -> Messages:
        """Makes the requests at once; returns their messages in order."""
        return self._start_round(requests, _run_in_thread).result()

    async def arun(self, requests: Sequence[Request]) -> Messages:
        """Does the same without blocking the event loop."""
        return await asyncio.wrap_future(self._start_round(requests, _run_on_loop))

    def _start_round(self, requests: Sequence[Request], run: RunRequest) -> Future[Messages]:
        if self._is_closed:
            # The loop may be closed, too, and would never begin the round.
            closed: Future[Messages] = Future()
            closed.cancel()
            return closed
        # On the loop of the node, wherever the agent runs: the order of the tasks is their identity.
        agent = contextvars.copy_context()
        started = asyncio.run_coroutine_threadsafe(self._make_all(requests, agent, run), self._loop)
        self._rounds.append(started)
        return started

    async def _make_all(
        self, requests: Sequence[Request], agent: contextvars.Context, run: RunRequest
    ) -> Messages:
        if self._is_closed:
            raise asyncio.CancelledError
        jobs = [self._make_one(request, agent, run) for request in requests]
        # All have to end before the first error is raised: their tools may have had an effect.
        return join_messages(await asyncio.gather(*jobs, return_exceptions=True))

    async def _make_one(self, request: Request, agent: contextvars.Context, run: RunRequest) -> Messages:
        while True:
            made: list[Messages | Exception] = []
            entry = await self._start_task(partial(self._make, request, agent, run, made))
            if made:
                return join_messages(made)
            messages = read_messages(entry, request)
            read_recorder().restore_calls(entry["calls"])
            self._ended_at = entry["ended_at"]
            # After a request that failed, the agent made another one, which is the next task.
            if not entry["failed"]:
                return messages

    async def _start_task(self, make: Callable[[], Awaitable[JournalEntry]]) -> JournalEntry:
        try:
            future = self._node.copy().run(journaled_call, make)
        except RuntimeError:
            # A graph that is not awaited has no async tasks; then nothing is kept.
            return await make()
        return await future

    async def _make(
        self,
        request: Request,
        agent: contextvars.Context,
        run: RunRequest,
        made: list[Messages | Exception],
    ) -> JournalEntry:
        """Makes a request in the context of the agent; adds its messages or its error to ``made``."""
        context = agent.run(copy_context_with, agent.run(_build_config, read_values()))
        recorder, ids = agent.run(read_recorder), context.run(collect_starts)
        try:
            messages = await run(request, context)
        except GraphInterrupt:
            raise
        except Exception as error:  # noqa: BLE001 - raised again for the agent, which may ask again
            made.append(error)
            return self._build_entry(request, [], recorder.export_calls(()), failed=True)
        made.append(messages)
        return self._build_entry(request, messages, recorder.export_calls(ids))

    def _build_entry(
        self, request: Request, messages: Messages, calls: RecordedCalls, *, failed: bool = False
    ) -> JournalEntry:
        self._ended_at = self._now().isoformat()
        return JournalEntry(
            request=describe_request(request),
            messages=json.dumps(messages_to_dict(messages), default=format_text, skipkeys=True),
            calls=calls,
            failed=failed,
            ended_at=self._ended_at,
        )


def open_journal(now: Callable[[], datetime], *, is_kept: bool) -> AbstractContextManager[TaskJournal | None]:
    """Opens the journal of an execution; None if the run cannot be resumed."""
    return closing(TaskJournal(now)) if is_kept else nullcontext()


async def _run_on_loop(request: Request, context: contextvars.Context) -> Messages:
    try:
        return await asyncio.create_task(request.arun(), context=context)
    except (KeyboardInterrupt, SystemExit):
        # The task has stopped the event loop with it; once more would break the end of the loop.
        raise asyncio.CancelledError from None


async def _run_in_thread(request: Request, context: contextvars.Context) -> Messages:
    return await run_in_thread(partial(context.run, request.run))


def _build_config(task_values: Mapping[str, object]) -> RunnableConfig:
    """Returns the agent's config with the values of the task, so that an interrupt belongs to the task."""
    config = read_config()
    # Without the journal: what an agent within a tool asks is a part of this request.
    configurable = {**config.get("configurable", {}), **task_values, CALL_JOURNAL: None}
    return without_durability(RunnableConfig(**{**config, "configurable": configurable}))
