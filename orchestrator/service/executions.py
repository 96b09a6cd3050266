"""Executes runs, each with an orchestrator of its own: followed by a caller, or in the background."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from concurrent.futures import Future
from contextlib import AbstractContextManager, aclosing, asynccontextmanager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from typing import Annotated, Any, Final, Protocol, Self, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from agents.sync import DaemonExecutor, start_call
from orchestrator.engine import LangGraphOrchestrator
from orchestrator.errors import ConfigurationError
from orchestrator.events import Event
from orchestrator.state.plain_values import format_traceback
from orchestrator.state.records import Requirement, SupervisionMode

Name = Annotated[str, Field(min_length=1, max_length=200)]


class NewRun(BaseModel):
    """A run to start.

    Attributes:
        task: What to do.
        thread_id: Name of the run; None for a new name.
        acting_tools: Tools that change something, as ``--acting-tools`` names them; None for the server's.
        supervise: Who reviews each step; None for the server's choice.
        require: The least basis of a success; None for the server's.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    task: Annotated[str, Field(max_length=100_000)]
    thread_id: Name | None = None
    acting_tools: Annotated[list[Name], Field(max_length=100)] | None = None
    supervise: SupervisionMode | None = None
    require: Requirement | None = None


class RunBuilder(Protocol):
    """Builds orchestrators; each lives as long as its run. Its methods may block."""

    def open_new(self, run: NewRun) -> AbstractContextManager[LangGraphOrchestrator]:
        """Builds the orchestrator of a new run; raises ConfigurationError if it is not accepted."""

    def open_stored(self, thread_id: str) -> AbstractContextManager[LangGraphOrchestrator]:
        """Builds the orchestrator that continues a run.

        Raises:
            ConfigurationError: It cannot be built here: its tools are missing, say.
            StoreError: There is no such run, or another program began it.
        """

    def find_problem(self, thread_id: str) -> str | None:
        """Returns why a run cannot be continued here, and what continues it elsewhere; None if it can."""


@dataclass(frozen=True, slots=True)
class OneOrchestrator:
    """Runs everything with one orchestrator of the caller, over the store that is served."""

    orchestrator: LangGraphOrchestrator

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


@dataclass(frozen=True, slots=True)
class Execution:
    """A run that starts, goes on or is forked.

    Attributes:
        open_orchestrator: Builds its orchestrator, which lives as long as the run is executed. It may block.
        open_stream: Starts the stream of its events.
    """

    open_orchestrator: Callable[[], AbstractContextManager[LangGraphOrchestrator]]
    open_stream: Callable[[LangGraphOrchestrator], AsyncGenerator[Event, None]]

    @classmethod
    def of_new(cls, builder: RunBuilder, run: NewRun, thread_id: str) -> Self:
        """Returns the execution of a new run; executing it raises the errors of ``run``."""
        return cls(lambda: builder.open_new(run), lambda each: each.astream(run.task, thread_id))

    @classmethod
    def of_stored(
        cls, builder: RunBuilder, thread_id: str, answer: object = None, *, accept_changes: bool = False
    ) -> Self:
        """Returns the execution that resumes a run; executing it raises the errors of ``resume``."""
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
    task: asyncio.Future[None]


_Began: TypeAlias = Future[tuple[str, LangGraphOrchestrator]]
"""Gets the thread and the orchestrator of a run at its first event."""


@dataclass(slots=True)
class RunSessions:
    """The runs that this process executes.

    They have an event loop of their own, in another thread: evaluating their steps takes time in which the
    loop of the server answers requests.

    Attributes:
        builder: Builds their orchestrators.
    """

    builder: RunBuilder
    _loop: asyncio.AbstractEventLoop = field(init=False)
    _running: dict[str, _Running] = field(default_factory=dict)

    def open(self) -> None:
        """Starts the loop of the runs."""
        self._loop = asyncio.new_event_loop()
        self._loop.set_default_executor(DaemonExecutor())
        start_call(Future[None](), partial(_run_until_stopped, self._loop))

    async def wait_for_end(self, thread_id: str, longest_s: float) -> None:
        """Waits until this process no longer executes a run, but no longer than the given time."""
        if (running := self._running.get(thread_id)) is not None:
            await asyncio.wait({running.task}, timeout=longest_s)

    async def cancel(self, thread_id: str, reason: str) -> None:
        """Ends a run for good; raises the errors of ``cancel``."""
        if (running := self._running.get(thread_id)) is not None:
            await running.orchestrator.acancel(thread_id, reason)
            return
        async with open_in_thread(lambda: self.builder.open_stored(thread_id)) as orchestrator:
            await orchestrator.acancel(thread_id, reason)

    async def close(self) -> None:
        """Interrupts every run, as a kill would; ``resume`` continues them."""
        running = dict(self._running)
        for thread_id, each in running.items():
            each.orchestrator.interrupt(thread_id)
        await asyncio.gather(*(each.task for each in running.values()), return_exceptions=True)
        if self._loop.is_running():
            self._loop.call_soon_threadsafe(self._loop.stop)

    async def begin(self, execution: Execution) -> None:
        """Executes a run in the background; returns when it has begun, or raises why it has not."""
        began = _Began()
        executed = asyncio.run_coroutine_threadsafe(_execute(execution, began), self._loop)
        task, first = asyncio.wrap_future(executed), asyncio.wrap_future(began)
        both: set[asyncio.Future[Any]] = {task, first}
        await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
        if not first.done():
            first.cancel()
            await task
            return
        thread_id, orchestrator = first.result()
        self._running[thread_id] = _Running(orchestrator, task)
        task.add_done_callback(partial(self._finish, thread_id))

    def _finish(self, thread_id: str, task: asyncio.Future[None]) -> None:
        if self._running[thread_id].task is task:  # and no later execution of the run
            del self._running[thread_id]
        if not task.cancelled() and (error := task.exception()) is not None:
            # What was stored before is intact: the page shows the run as interrupted.
            _log.error("a run of the server stopped\n%s", format_traceback(error))


async def _execute(execution: Execution, began: _Began) -> None:
    async with (
        open_in_thread(execution.open_orchestrator) as orchestrator,
        aclosing(execution.open_stream(orchestrator)) as events,
    ):
        async for event in events:
            if not began.done():
                began.set_result((event.thread_id, orchestrator))


def _run_until_stopped(loop: asyncio.AbstractEventLoop) -> None:
    loop.run_forever()
    loop.close()
