"""Executes runs, each with an orchestrator of its own: followed by a caller, or in the background."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from concurrent.futures import Future
from contextlib import AbstractContextManager, aclosing, asynccontextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Annotated, Any, Final, Protocol, Self

from pydantic import BaseModel, ConfigDict, Field

from agents.sync import DaemonExecutor, start_call
from orchestrator.engine import LangGraphOrchestrator
from orchestrator.errors import ConfigurationError
from orchestrator.runs.run_saver import format_resume_call
from orchestrator.runtime.events import Event
from orchestrator.service.event_feed import EventFeed
from orchestrator.state.plain_values import format_traceback
from orchestrator.state.records import Question, Requirement, SupervisionMode

Name = Annotated[str, Field(min_length=1, max_length=200)]


class NewRun(BaseModel):
    """A run to start.

    Attributes:
        task: What to do.
        thread_id: Name of the run; None for a new name.
        acting_tools: Tools that change something, as ``--acting-tools`` names them; None for the server's.
        supervise: Who reviews each step; None for the server's choice.
        require: What a success has to rest on at least; None for the server's.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    task: Annotated[str, Field(max_length=100_000)]
    thread_id: Name | None = None
    acting_tools: Annotated[list[Name], Field(max_length=100)] | None = None
    supervise: SupervisionMode | None = None
    require: Requirement | None = None


class RunBuilder(Protocol):
    """Builds orchestrators; each lives as long as its run. Its methods may block."""

    @property
    def has_tools(self) -> bool:
        """Whether a new run has tools whose calls a person may approve."""
        ...

    def open_new(self, run: NewRun) -> AbstractContextManager[LangGraphOrchestrator]:
        """Builds the orchestrator of a new run; raises ConfigurationError if it is not accepted."""
        ...

    def open_stored(self, thread_id: str) -> AbstractContextManager[LangGraphOrchestrator]:
        """Builds the orchestrator that continues a run.

        Raises:
            ConfigurationError: It cannot be built here: its tools are missing, say.
            StoreError: There is no such run, or another program began it.
        """
        ...

    def find_problem(self, thread_id: str) -> str | None:
        """Returns why a run cannot be continued here: its tools are missing, say; None if it can."""
        ...

    def describe_next(self, thread_id: str, question: Question | None) -> str:
        """Returns the command, or the call in Python, that continues a run elsewhere."""
        ...


@dataclass(frozen=True, slots=True)
class OneOrchestrator:
    """Runs everything with one orchestrator of the caller, over the store that is served."""

    orchestrator: LangGraphOrchestrator
    has_tools: bool = False

    def open_new(self, run: NewRun) -> AbstractContextManager[LangGraphOrchestrator]:
        """Returns the orchestrator, which has its settings already."""
        given = run.model_dump(exclude={"task", "thread_id"}, exclude_none=True)
        if given:
            raise ConfigurationError(f"{', '.join(given)} cannot be chosen here; leave it out")
        return nullcontext(self.orchestrator)

    def open_stored(self, thread_id: str) -> AbstractContextManager[LangGraphOrchestrator]:  # noqa: ARG002
        """Returns the orchestrator; its ``resume`` compares the settings."""
        return nullcontext(self.orchestrator)

    def find_problem(self, thread_id: str) -> str | None:  # noqa: ARG002
        """Returns None: ``resume`` finds the problems."""
        return None

    def describe_next(self, thread_id: str, question: Question | None) -> str:
        """Returns the call in Python."""
        return f"orchestrator.{format_resume_call(thread_id, question)}"


@dataclass(frozen=True, slots=True)
class Execution:
    """A run that starts, goes on or is forked.

    Attributes:
        open_orchestrator: Builds its orchestrator, which lives as long as the run is followed. It may block.
        open_stream: Starts the stream of its events.
    """

    open_orchestrator: Callable[[], AbstractContextManager[LangGraphOrchestrator]]
    open_stream: Callable[[LangGraphOrchestrator], AsyncGenerator[Event, None]]

    @classmethod
    def of_new(cls, builder: RunBuilder, run: NewRun, thread_id: str) -> Self:
        """Returns the execution of a new run; following it raises the errors of ``run``."""
        return cls(lambda: builder.open_new(run), lambda each: each.astream(run.task, thread_id))

    @classmethod
    def of_stored(
        cls, builder: RunBuilder, thread_id: str, answer: object = None, *, accept_changes: bool = False
    ) -> Self:
        """Returns the execution that resumes a run; following it raises the errors of ``resume``."""
        return cls(
            lambda: builder.open_stored(thread_id),
            lambda each: each.astream_resumed(thread_id, answer, accept_changes=accept_changes),
        )

    @classmethod
    def of_fork(cls, builder: RunBuilder, thread_id: str, step: int, new_thread_id: str) -> Self:
        """Returns the execution of a fork from before a step, from 0; raises the errors of ``fork``."""
        return cls(
            lambda: builder.open_stored(thread_id),
            lambda each: each.astream_forked(thread_id, step, new_thread_id),
        )

    async def follow(self) -> AsyncGenerator[tuple[LangGraphOrchestrator, Event], None]:
        """Yields each event, with the orchestrator that executes the run."""
        async with (
            open_in_thread(self.open_orchestrator) as orchestrator,
            aclosing(self.open_stream(orchestrator)) as events,
        ):
            async for event in events:
                yield orchestrator, event


@asynccontextmanager
async def open_in_thread(
    open_orchestrator: Callable[[], AbstractContextManager[LangGraphOrchestrator]],
) -> AsyncIterator[LangGraphOrchestrator]:
    """Builds an orchestrator without blocking the server: it may load a model."""
    opened = await asyncio.to_thread(open_orchestrator)
    orchestrator = await asyncio.to_thread(opened.__enter__)
    try:
        yield orchestrator
    finally:
        await asyncio.to_thread(opened.__exit__, None, None, None)


_log: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Running:
    orchestrator: LangGraphOrchestrator
    ended: asyncio.Event


@dataclass(slots=True)
class RunSessions:
    """The runs that this process executes.

    They have an event loop of their own, in another thread: evaluating their steps takes time in which the
    loop of the server answers requests.

    Attributes:
        builder: Builds their orchestrators.
        feed: Gets their events, in the loop of the server.
    """

    builder: RunBuilder
    feed: EventFeed
    _loop: asyncio.AbstractEventLoop = field(init=False)
    _tasks: set[asyncio.Future[None]] = field(default_factory=set)
    _running: dict[str, _Running] = field(default_factory=dict)

    def open(self) -> None:
        """Starts the loop of the runs."""
        self._loop = asyncio.new_event_loop()
        self._loop.set_default_executor(DaemonExecutor())
        start_call(Future[None](), partial(_run_until_stopped, self._loop))

    async def wait_for_end(self, thread_id: str, longest_s: float) -> None:
        """Waits until this process no longer executes a run, but no longer than the given time."""
        if (running := self._running.get(thread_id)) is not None:
            with suppress(TimeoutError):
                await asyncio.wait_for(running.ended.wait(), longest_s)

    async def cancel(self, thread_id: str, reason: str) -> None:
        """Ends a run for good; raises the errors of ``cancel``."""
        if (running := self._running.get(thread_id)) is not None:
            await running.orchestrator.acancel(thread_id, reason)
            return
        async with open_in_thread(lambda: self.builder.open_stored(thread_id)) as orchestrator:
            await orchestrator.acancel(thread_id, reason)
        await self.feed.refresh(thread_id)

    async def close(self) -> None:
        """Interrupts every run, as a kill would; ``resume`` continues them."""
        for thread_id, running in [*self._running.items()]:
            running.orchestrator.interrupt(thread_id)
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self.feed.close()
        if self._loop.is_running():
            self._loop.call_soon_threadsafe(self._loop.stop)

    async def begin(self, execution: Execution) -> None:
        """Executes a run in the background; returns when it has begun, or raises why it has not."""
        began, server = asyncio.Event(), asyncio.get_running_loop()
        executed = self._execute(execution, server, began)
        task = asyncio.wrap_future(asyncio.run_coroutine_threadsafe(executed, self._loop))
        self._tasks.add(task)
        first = asyncio.ensure_future(began.wait())
        both: set[asyncio.Future[Any]] = {task, first}
        await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
        first.cancel()
        if not began.is_set():
            self._tasks.discard(task)
            await task
            return
        task.add_done_callback(self._finish)

    async def _execute(
        self, execution: Execution, server: asyncio.AbstractEventLoop, began: asyncio.Event
    ) -> None:
        async with aclosing(execution.follow()) as events:
            orchestrator, first = await anext(events)
            server.call_soon_threadsafe(self._add_first, first, orchestrator, began)
            try:
                async for _, event in events:
                    server.call_soon_threadsafe(self.feed.add, event)
            finally:
                server.call_soon_threadsafe(self._remove, first.thread_id)

    def _add_first(self, first: Event, orchestrator: LangGraphOrchestrator, began: asyncio.Event) -> None:
        self.feed.begin(first)
        self._running[first.thread_id] = _Running(orchestrator, asyncio.Event())
        began.set()

    def _remove(self, thread_id: str) -> None:
        self.feed.stop(thread_id)
        if (running := self._running.pop(thread_id, None)) is not None:
            running.ended.set()

    def _finish(self, task: asyncio.Future[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            # What was stored before is intact: the page shows the run as interrupted.
            _log.error("a run of the server stopped\n%s", format_traceback(error))


def _run_until_stopped(loop: asyncio.AbstractEventLoop) -> None:
    loop.run_forever()
    loop.close()
