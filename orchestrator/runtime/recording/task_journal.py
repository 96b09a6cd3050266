"""Keeps the calls of an agent in LangGraph's tasks, so that a resumed execution does not repeat them."""

from __future__ import annotations

import asyncio
import contextvars
import json
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, InvalidStateError
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Final, cast
from uuid import UUID

from langchain_core.messages import BaseMessage, messages_from_dict, messages_to_dict
from langchain_core.runnables.config import RunnableConfig
from langgraph.errors import GraphInterrupt
from langgraph.func import task
from pydantic import TypeAdapter
from typing_extensions import TypedDict

from agents.calls.conversation import Request
from agents.calls.journal import CALL_JOURNAL, describe_request
from agents.sync import resolve_future, run_in_threads
from orchestrator.errors import BrokenRunError, ResumeError
from orchestrator.runtime.langgraph_internals import without_durability
from orchestrator.runtime.nested_graphs import read_node_config, use_node_config
from orchestrator.runtime.recording.recorded_calls import RecordedCalls, collect_starts
from orchestrator.runtime.recording.usage_recorder import read_recorder
from orchestrator.state.plain_values import format_one_line, format_text


class _Entry(TypedDict):
    """A request that has ended: its messages as JSON text, and the calls that it made.

    ``request`` describes it: with other options, a resumed step makes another request at its place.
    ``failed`` says that it raised, so that the agent made another one, or gave up.
    """

    request: str
    messages: str
    calls: RecordedCalls
    failed: bool
    ended_at: str


_ENTRY: Final = TypeAdapter(_Entry)
_OTHER_REQUEST: Final = (
    "the step under way was begun with other tools to approve or to run once; "
    "resume it with the approve_tools, the once_tools and the tools that it was begun with"
)


@dataclass(frozen=True, slots=True)
class _Turn:
    """Permission to make a request; ``config`` is that of its task, None if nothing keeps the result."""

    config: RunnableConfig | None


@dataclass(frozen=True, slots=True, eq=False)
class _Slot:
    """The place of one request in the journal.

    Attributes:
        start: What to do: make the request, or take the entry that is there.
        result: The entry of a request that was made.
        kept: Ends when LangGraph has the entry.
    """

    start: Future[_Turn | _Entry] = field(default_factory=Future)
    result: Future[_Entry] = field(default_factory=Future)
    kept: Future[None] = field(default_factory=Future)

    async def make(self, config: RunnableConfig) -> _Entry:
        """Lets the agent make the request, and returns its entry."""
        self.start.set_result(_Turn(config))
        return await asyncio.wrap_future(self.result)

    def end(self, future: Future[_Entry]) -> None:
        """Reads the result of the task."""
        if not self.start.done():
            resolve_future(self.start, future.result)
        self.kept.set_result(None)

    def finish(self, entry: _Entry) -> None:
        """Hands the entry to the task, unless the run went on without the agent."""
        with suppress(InvalidStateError):
            self.result.set_result(entry)

    def fail(self, question: GraphInterrupt) -> None:
        """Lets the task ask a person."""
        with suppress(InvalidStateError):
            self.result.set_exception(question)

    def abandon(self) -> None:
        """Ends a request that was not made, or has not ended."""
        self.start.cancel()
        self.result.cancel()


@task
async def journaled_call(slot: _Slot) -> _Entry:
    """Waits for the entry. LangGraph runs this only if it has none from an earlier start of the node."""
    return await slot.make(read_node_config() or RunnableConfig())


class TaskJournal:
    """The journal of one execution of a step: ``agents.calls.journal.CallJournal``.

    Each request is a task of LangGraph's functional API, whose result the checkpointer keeps at once. The
    task itself only waits: the agent makes the request in its own thread and context. Build it in the node.

    Args:
        now: Returns the current time.
    """

    def __init__(self, now: Callable[[], datetime]) -> None:
        self._now = now
        self._ended_at: str | None = None
        self._loop = asyncio.get_running_loop()
        self._node = contextvars.copy_context()
        self._slots: list[_Slot] = []
        self._is_closed = False

    def read_time(self) -> str:
        """Returns when the last request ended, which is the same after a resume; else the time now."""
        return self._ended_at or self._now().isoformat()

    def close(self) -> None:
        """Ends the requests that are still open: the agent was left behind, or the run was interrupted."""
        self._is_closed = True
        for slot in self._slots:
            slot.abandon()

    def run(self, requests: Sequence[Request]) -> list[BaseMessage]:
        """Makes the requests at once; returns their messages in order."""
        slots = self._open_slots(len(requests))
        jobs = [partial(self._run_one, slot, request) for slot, request in zip(slots, requests, strict=True)]
        return _join(run_in_threads(jobs))

    async def arun(self, requests: Sequence[Request]) -> list[BaseMessage]:
        """Does the same without blocking the event loop."""
        slots = self._open_slots(len(requests))
        jobs = [self._arun_one(slot, request) for slot, request in zip(slots, requests, strict=True)]
        # All have to end before the first error is raised: their tools may have had an effect.
        return _join(await asyncio.gather(*jobs, return_exceptions=True))

    def _run_one(self, slot: _Slot, request: Request) -> list[BaseMessage]:
        while not isinstance(start := slot.start.result(), _Turn):
            if (messages := self._restore(start, request)) is not None:
                return messages
            [slot] = self._open_slots(1)
        with self._keep(slot, start, describe_request(request)) as messages:
            messages.extend(request.run())
        slot.kept.result()
        return messages

    async def _arun_one(self, slot: _Slot, request: Request) -> list[BaseMessage]:
        while not isinstance(start := await asyncio.wrap_future(slot.start), _Turn):
            if (messages := self._restore(start, request)) is not None:
                return messages
            [slot] = self._open_slots(1)
        with self._keep(slot, start, describe_request(request)) as messages:
            messages.extend(await request.arun())
        await asyncio.wrap_future(slot.kept)
        return messages

    def _open_slots(self, count: int) -> list[_Slot]:
        slots = [_Slot() for _ in range(count)]
        # The order of the tasks is their identity, so all of them start on the loop of the node.
        self._loop.call_soon_threadsafe(self._start_tasks, slots, context=self._node)
        return slots

    def _start_tasks(self, slots: Sequence[_Slot]) -> None:
        for slot in slots:
            if self._is_closed:
                slot.abandon()
                continue
            self._slots.append(slot)
            try:
                future = journaled_call(slot)
            except RuntimeError:
                # A graph that is not awaited has no async tasks; then nothing is kept.
                slot.start.set_result(_Turn(None))
                slot.kept.set_result(None)
            else:
                future.add_done_callback(cast("Callable[[object], None]", slot.end))

    @contextmanager
    def _keep(self, slot: _Slot, turn: _Turn, described: str) -> Iterator[list[BaseMessage]]:
        """Makes a request in the block, which adds its messages to the list, and keeps what came of it."""
        messages: list[BaseMessage] = []
        try:
            with use_node_config(_build_config(turn)), collect_starts() as ids:
                yield messages
        except GraphInterrupt as question:
            slot.fail(question)
            raise
        except Exception:
            # The agent may ask again: after a resume, the next request is not this one, either.
            slot.finish(self._build_entry(described, (), (), failed=True))
            raise
        except BaseException:
            slot.abandon()
            raise
        slot.finish(self._build_entry(described, messages, ids, failed=False))

    def _build_entry(
        self, described: str, messages: Sequence[BaseMessage], ids: Sequence[UUID], *, failed: bool
    ) -> _Entry:
        text = json.dumps(messages_to_dict(messages), default=format_text, skipkeys=True)
        calls = read_recorder().export_calls(ids)
        self._ended_at = self._now().isoformat()
        return _Entry(request=described, messages=text, calls=calls, failed=failed, ended_at=self._ended_at)

    def _restore(self, entry: _Entry, request: Request) -> list[BaseMessage] | None:
        """Returns the messages of an entry, and records its calls; None if the request had failed.

        Raises:
            BrokenRunError: The store holds something else.
            ResumeError: The entry is that of another request.
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
        read_recorder().restore_calls(entry["calls"])
        self._ended_at = entry["ended_at"]
        return None if entry["failed"] else messages


def _build_config(turn: _Turn) -> RunnableConfig:
    """Returns the agent's config with the values of the task, so that an interrupt belongs to the task."""
    config = read_node_config() or RunnableConfig()
    values = {} if turn.config is None else turn.config.get("configurable", {})
    # Without the journal: what an agent within a tool asks is a part of this request.
    configurable = {**config.get("configurable", {}), **values, CALL_JOURNAL: None}
    return without_durability(RunnableConfig(**{**config, "configurable": configurable}))


def _join(outcomes: Sequence[list[BaseMessage] | BaseException]) -> list[BaseMessage]:
    """Joins the messages, or raises the first error."""
    for outcome in outcomes:
        if isinstance(outcome, BaseException):
            raise outcome
    return [message for messages in outcomes if isinstance(messages, list) for message in messages]
