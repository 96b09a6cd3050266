"""A worker: executes the runs of a queue until it is stopped."""

from __future__ import annotations

import asyncio
import logging
import os
import platform
import uuid
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import TYPE_CHECKING, Final

from orchestrator.engine import LangGraphOrchestrator
from orchestrator.errors import BrokenRunError, OrchestratorError, StoreError, StoreLostError, ThreadBusyError
from orchestrator.persistence import Store
from orchestrator.queue.queue_records import (
    FORGET_WORKER,
    KINDS,
    SHOW_LIFE,
    QueuedJob,
    build_route,
    read_queue_status,
)
from orchestrator.state.graph_state import UNDERWAY, OrchestratorState

if TYPE_CHECKING:
    from orchestrator.queue.pgqueuer_engine import PgQueuerEngine  # an extra

_CANCELLED: Final = "cancelled in the queue"
_log: Final = logging.getLogger(__name__)


@dataclass(slots=True)
class QueueWorker:
    """Executes the jobs of a queue.

    The claim on the thread of a run makes sure that no two workers execute it, also if the engine delivers
    its job twice: the second delivery is put off, and finds a run that has ended.

    Attributes:
        store: The store of the runs.
        engine: The engine of the queue.
        queue: Name of the queue.
        apps: The orchestrators by the name of the function that built them; jobs for others are left.
        concurrency: How many jobs it executes at once.
        heartbeat_s: Seconds without a sign of life after which other workers take over its jobs.
        grace_s: Seconds that runs may go on after ``stop``, before they are interrupted.
        report: Called with one line about each job.
    """

    store: Store
    engine: PgQueuerEngine
    queue: str
    apps: Mapping[str, LangGraphOrchestrator]
    concurrency: int = 10
    heartbeat_s: float = 10.0
    grace_s: float = 20.0
    report: Callable[[str], None] = _log.info
    _stop: asyncio.Event = field(default_factory=asyncio.Event)
    _loop: asyncio.AbstractEventLoop | None = None
    _id: str = field(default_factory=lambda: str(uuid.uuid4()))

    async def run(self) -> None:
        """Executes jobs until ``stop`` is called.

        Raises:
            StoreLostError: The connection was lost; start the worker again.
            Exception: The report raised it; a worker that others cannot see must not go on.
        """
        self._loop = asyncio.get_running_loop()
        helpers = (asyncio.create_task(self._show_life()), asyncio.create_task(self._end_runs()))
        for helper in helpers:
            helper.add_done_callback(lambda _: self._stop.set())
        try:
            await self.engine.work(
                self._list_routes(),
                self.execute,
                self.interrupt,
                self._stop,
                concurrency=self.concurrency,
                heartbeat_s=self.heartbeat_s,
            )
        finally:
            for helper in helpers:
                helper.cancel()
            await asyncio.wait(helpers)
            with suppress(StoreLostError):
                await asyncio.to_thread(self.store.saver.change, FORGET_WORKER, [(self._id,)])
        for helper in helpers:
            with suppress(asyncio.CancelledError):
                helper.result()

    def stop(self) -> None:
        """Takes no further job, and ends when the runs have. May be called in a signal handler."""
        if self._loop is None:
            self._stop.set()
        else:
            self._loop.call_soon_threadsafe(self._stop.set)

    async def execute(self, job: QueuedJob) -> float | None:
        """Executes a job; returns the seconds after which it is delivered again, or None at its end."""
        app = self.apps[job.app]
        try:
            if job.kind == "cancel":
                await app.acancel(job.thread_id, _CANCELLED)
                return None
            state = await app.arun_once(job.task, job.thread_id)
        except BrokenRunError:
            raise
        except (ThreadBusyError, StoreError) as error:  # also a clock behind the one of the last worker
            self.report(f"later: {error}")
            return self.heartbeat_s / 2
        if state["task"] != job.task:  # it was begun while the job was submitted
            raise OrchestratorError("the thread has a run of another task; submit this one with another name")
        self.report(f"{_describe_end(state)}: {job.thread_id}")
        return 0.0 if _is_interrupted(state) else None

    def interrupt(self) -> None:
        """Stops all runs at once, so that another worker resumes them."""
        for app in self.apps.values():
            app.interrupt()

    def _list_routes(self) -> list[str]:
        return [build_route(self.queue, kind, app) for app in self.apps for kind in KINDS]

    async def _end_runs(self) -> None:
        await self._stop.wait()
        await asyncio.sleep(self.grace_s)
        self.interrupt()

    async def _show_life(self) -> None:
        left: frozenset[str] = frozenset()
        while True:
            with suppress(StoreLostError):  # the engine notices it
                await asyncio.to_thread(self.store.saver.change, SHOW_LIFE, [self._describe()])
                left = await asyncio.to_thread(self._report_left, left)
            await asyncio.sleep(self.heartbeat_s / 2)

    def _describe(self) -> Sequence[object]:
        software = version("plan-execute-monitor")
        place = (platform.node(), os.getpid(), software)
        return (self._id, self.queue, self._list_routes(), *place, self.concurrency, self.heartbeat_s)

    def _report_left(self, reported: frozenset[str]) -> frozenset[str]:
        """Reports the jobs that this worker cannot execute, once each kind."""
        status = read_queue_status(self.store.saver)
        left = frozenset() if status is None else status.describe_left(self.queue)
        for sentence in sorted(left - reported):
            self.report(f"left: {sentence}")
        return left


def _is_interrupted(state: OrchestratorState) -> bool:
    return state["status"] in UNDERWAY and state["question"] is None


def _describe_end(state: OrchestratorState) -> str:
    if state["question"] is not None:
        return "waiting for a person"
    return "interrupted" if _is_interrupted(state) else state["status"]
