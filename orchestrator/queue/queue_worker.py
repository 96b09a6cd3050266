"""A worker: executes the runs of a queue until it is stopped."""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

from evaluation.sensitive.scanner import describe_raised
from orchestrator.engine import LangGraphOrchestrator
from orchestrator.errors import BrokenRunError, OrchestratorError, StoreError, StoreLostError, ThreadBusyError
from orchestrator.queue.job_queue import Job, JobQueue
from orchestrator.state.graph_state import UNDERWAY, OrchestratorState

_CANCELLED: Final = "cancelled in the queue"
_POLL_S: Final = 0.5
_MOST_TAKEN: Final = 10
"""So that a run that kills its worker does not kill one after another for ever."""
_log: Final = logging.getLogger(__name__)


@dataclass(slots=True)
class QueueWorker:
    """Executes the jobs of a queue.

    The lock on the thread of a run makes sure that no two workers execute it, also if both have its job: the
    second one gives it back, and finds a run that has ended.

    Attributes:
        queue: The queue.
        apps: The orchestrators by the name of the function that built them; jobs for others are left.
        concurrency: How many jobs it executes at once.
        heartbeat_s: Seconds without a sign of life after which other workers take over its jobs.
        grace_s: Seconds that runs may go on after ``stop``, before they are interrupted.
        report: Called with one line about each job.
    """

    queue: JobQueue
    apps: Mapping[str, LangGraphOrchestrator]
    concurrency: int = 10
    heartbeat_s: float = 10.0
    grace_s: float = 20.0
    report: Callable[[str], None] = _log.info
    _stop: asyncio.Event = field(default_factory=asyncio.Event)
    _loop: asyncio.AbstractEventLoop | None = None
    _id: str = field(default_factory=lambda: str(uuid.uuid4()))
    _jobs: dict[str, asyncio.Task[None]] = field(default_factory=dict)

    async def run(self) -> None:
        """Executes jobs until ``stop`` is called.

        Raises:
            StoreLostError: The database was lost; start the worker again.
        """
        self._loop = asyncio.get_running_loop()
        stopping = asyncio.create_task(self._end_runs())
        try:
            while self._jobs or not self._stop.is_set():
                await self._look()
                await asyncio.wait(
                    {stopping, *self._jobs.values()}, timeout=_POLL_S, return_when=asyncio.FIRST_COMPLETED
                )
                for job in [name for name, task in self._jobs.items() if task.done()]:
                    self._jobs.pop(job).result()
        finally:
            self.interrupt()
            await asyncio.gather(*self._jobs.values(), return_exceptions=True)
            stopping.cancel()
            with suppress(StoreLostError):
                await asyncio.to_thread(self.queue.forget_worker, self._id)

    def stop(self) -> None:
        """Takes no further job, and ends when the runs have. May be called in a signal handler."""
        if self._loop is None:
            self._stop.set()
        else:
            self._loop.call_soon_threadsafe(self._stop.set)

    async def execute(self, job: Job) -> float | None:
        """Executes a job; returns the seconds after which it is taken again, or None at its end."""
        app = self.apps[job.app]
        if job.taken > _MOST_TAKEN:
            raise OrchestratorError(
                f"{_MOST_TAKEN} workers died while they executed it; find out why, and submit it again"
            )
        try:
            if job.is_cancelled:
                await app.acancel(job.thread_id, _CANCELLED)
                return None
            state = await app.arun_once(job.task, job.thread_id)
        except BrokenRunError:
            raise
        except (ThreadBusyError, StoreError) as error:
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

    async def _look(self) -> None:
        """Gives a sign of life, ends cancelled runs, and takes jobs."""
        await asyncio.to_thread(self.queue.show_life, self._id, [*self.apps], self.heartbeat_s)
        for thread_id in await asyncio.to_thread(self.queue.list_cancelled, self._id):
            for app in self.apps.values():
                with suppress(ThreadBusyError, StoreError):  # the run begins at this moment
                    await app.acancel(thread_id, _CANCELLED)
        free = 0 if self._stop.is_set() else self.concurrency - len(self._jobs)
        for job in await asyncio.to_thread(self.queue.take_jobs, self._id, [*self.apps], free):
            self._jobs[job.thread_id] = asyncio.create_task(self._execute_and_end(job))

    async def _execute_and_end(self, job: Job) -> None:
        execution = asyncio.ensure_future(self.execute(job))
        await asyncio.wait({execution})  # the caller's code may raise anything
        if (error := execution.exception()) is not None:
            reason = str(error) if isinstance(error, OrchestratorError) else describe_raised(error)
            self.report(f"failed: {job.thread_id}: {reason}")
            await asyncio.to_thread(self.queue.fail_job, self._id, job.thread_id, reason)
        elif (later := execution.result()) is not None:
            await asyncio.to_thread(self.queue.delay_job, self._id, job.thread_id, later)
        else:
            await asyncio.to_thread(self.queue.end_job, self._id, job.thread_id)

    async def _end_runs(self) -> None:
        await self._stop.wait()
        await asyncio.sleep(self.grace_s)
        self.interrupt()


def _is_interrupted(state: OrchestratorState) -> bool:
    return state["status"] in UNDERWAY and state["question"] is None


def _describe_end(state: OrchestratorState) -> str:
    if state["question"] is not None:
        return "waiting for a person"
    return "interrupted" if _is_interrupted(state) else state["status"]
