"""Runs on more than one machine: procrastinate queues them in the PostgreSQL that stores them.

A job has the name of its run as its lock, so that workers execute the jobs of a run one after another, and
the second one finds a run that has ended. The lock of the store on the thread of a run stays the last guard.

The module needs the extra [postgres].
"""

from __future__ import annotations

import asyncio
import os
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Final

from procrastinate import App, JobContext, PsycopgConnector, RetryStrategy, SyncPsycopgConnector
from procrastinate.exceptions import ConnectorException
from procrastinate.job_context import AbortReason
from pydantic import Field, StringConstraints

from orchestrator.engine import LangGraphOrchestrator
from orchestrator.errors import (
    BrokenRunError,
    ConfigurationError,
    OrchestratorError,
    StoreError,
    StoreLostError,
    ThreadBusyError,
)
from orchestrator.persistence import Store, open_store
from orchestrator.persistence.store import names_database
from orchestrator.runs.run_saver import convert_store_errors
from orchestrator.runtime.budget import SettingsModel
from orchestrator.settings import check_task, check_thread_id
from orchestrator.state.graph_state import ENDED, UNDERWAY
from orchestrator.state.plain_values import name_thread
from orchestrator.study.targets import import_orchestrator

__all__ = ["RunQueue", "Submission", "open_queue"]

_TASK: Final = "orchestrator.run"
_AGAIN: Final = "orchestrator.retry_stalled"
_HEARTBEAT_S: Final = 3.0
_DEAD_S: Final = 10.0
"""How long a worker may be silent before others take over its runs."""


class _Names(SettingsModel):
    """The names of a job, as short as PostgreSQL needs them."""

    queue: Annotated[
        str,
        StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,39}$"),
        Field(description="a name of at most 40 letters, digits, dots, dashes and underscores"),
    ]
    thread_id: Annotated[
        str, StringConstraints(max_length=500), Field(description="a name of at most 500 characters")
    ] = ""


class LaterError(OrchestratorError):
    """A job cannot be executed now; it is tried again."""


_LATER: Final = RetryStrategy(wait=3, retry_exceptions=[LaterError])


@dataclass(frozen=True, slots=True)
class Submission:
    """What became of a task.

    Attributes:
        thread_id: Name of the run.
        queue: Name of the queue.
        status: "queued"; "queued before", if a job of this run waits or is executed; or "success", "failed"
            or "waiting" (for a person), the status of the run of this name, for which nothing was queued.
    """

    thread_id: str
    queue: str
    status: str


@dataclass(frozen=True, slots=True)
class RunQueue:
    """A queue of runs; ``open_queue`` opens it.

    Attributes:
        name: Name of the queue.
        store: The store of the runs.
        apps: The orchestrators by the names of the functions that built them.
        jobs: The application of procrastinate, which lists and cancels jobs.
    """

    name: str
    store: Store
    apps: Mapping[str, LangGraphOrchestrator]
    jobs: App
    _url: str

    def submit(self, task: str, thread_id: str | None = None) -> Submission:
        """Queues a run for the first of the apps. The same call may be repeated after an error.

        Args:
            task: What to do.
            thread_id: Name of the run. Default: a new name. A run that was interrupted is resumed.

        Raises:
            ConfigurationError: An argument is not accepted, or the thread has a run of another task, or is
                queued with another task, app or queue. Nothing was queued.
            StoreLostError: The database cannot be reached.
        """
        check_thread_id(thread_id)
        name = _Names(queue=self.name, thread_id=thread_id or str(uuid.uuid4())).thread_id
        job = {"app": next(iter(self.apps)), "task": check_task(task), "thread_id": name}
        with convert_store_errors(self.store.where, ConnectorException):
            if (status := self._find_status(job)) is None:
                self.jobs.configure_task(_TASK, queue=self.name, lock=name).defer(**job)
        return Submission(name, self.name, status or "queued")

    def _find_status(self, job: Mapping[str, str]) -> str | None:
        """Returns why nothing has to be queued, or None."""
        name = job["thread_id"]
        run = self.store.history.find(name)
        jobs = self.jobs.job_manager.list_jobs(lock=name)
        queued = [(each.queue, each.task_kwargs) for each in jobs if each.status in ("todo", "doing")]
        if any(each != (self.name, job) for each in queued) or (run is not None and run.task != job["task"]):
            raise ConfigurationError(
                f"{name_thread(name)} has a run of another task, or is queued with another task, "
                "app or queue; let that run end, or give another name"
            )
        if run is not None and run.status in {*ENDED, "waiting"}:
            return run.status
        return "queued before" if queued else None

    async def work(self, report: Callable[[str], None], concurrency: int = 10, grace_s: float = 20.0) -> None:
        """Executes the jobs of the queue, also the jobs of dead workers, until this call is cancelled.

        Args:
            report: Called with one line about each job.
            concurrency: How many runs go on at once.
            grace_s: Seconds that the runs may go on after the cancellation, before they are interrupted.

        Raises:
            StoreLostError: The database was lost; start the worker again.
        """
        app = App(connector=PsycopgConnector(conninfo=self._url))
        execute = partial(self._execute, report)
        app.task(name=_TASK, queue=self.name, pass_context=True, retry=_LATER)(execute)
        once = f"{_AGAIN} {self.name}"
        again = app.task(name=_AGAIN, queue=self.name, pass_context=True, queueing_lock=once, priority=1)
        app.periodic(cron="* * * * * */5")(again(_retry_stalled))  # every five seconds
        with convert_store_errors(self.store.where, ConnectorException):
            async with app.open_async():
                await app.run_worker_async(
                    queues=[self.name],
                    concurrency=concurrency,
                    shutdown_graceful_timeout=grace_s,
                    fetch_job_polling_interval=1.0,
                    update_heartbeat_interval=_HEARTBEAT_S,
                    stalled_worker_timeout=_DEAD_S,
                    delete_jobs="successful",
                    install_signal_handlers=False,
                )
        raise StoreLostError(f"the worker lost {self.store.where}; start it again")

    async def _execute(
        self, report: Callable[[str], None], context: JobContext, app: str, task: str, thread_id: str
    ) -> None:
        try:
            end = await self._run_once(context, app, task, thread_id)
        except LaterError as error:
            report(f"later: {thread_id}: {error}")
            raise
        report(f"{end}: {thread_id}")

    async def _run_once(self, context: JobContext, app: str, task: str, thread_id: str) -> str:
        """Executes a run, and says how it ended."""
        if (orchestrator := self.apps.get(app)) is None:
            raise LaterError(f"it needs a worker with --app {app}")
        try:
            state = await orchestrator.arun_once(task, thread_id)
        except BrokenRunError:
            raise
        except (ThreadBusyError, StoreError) as error:
            raise LaterError(str(error)) from None
        except asyncio.CancelledError:
            if context.abort_reason() is AbortReason.USER_REQUEST:
                await orchestrator.acancel(thread_id, "cancelled in the queue")
                raise
            raise LaterError("it is interrupted, because the worker ends") from None
        if state["task"] != task:  # it was begun while the job was submitted
            raise OrchestratorError("the thread has a run of another task; submit this one with another name")
        if state["status"] in UNDERWAY and state["question"] is None:
            raise LaterError("it is interrupted")
        return "waiting for a person" if state["question"] else state["status"]


async def _retry_stalled(context: JobContext, timestamp: int) -> None:  # noqa: ARG001 - procrastinate's
    """Lets the jobs of dead workers be taken again."""
    manager = context.app.job_manager
    for job in await manager.get_stalled_jobs(seconds_since_heartbeat=_DEAD_S):
        await manager.retry_job(job)


@contextmanager
def open_queue(apps: Sequence[str], db: str | None = None, name: str = "default") -> Iterator[RunQueue]:
    """Opens a queue for the block, and creates the tables that the database lacks.

    Args:
        apps: ``MODULE:FUNCTION`` of functions that take the store and return an orchestrator.
        db: The ``postgresql://`` URL of the store. Default: the environment variable ``PEM_QUEUE_DB``.
        name: Name of the queue; it needs no creation.

    Raises:
        StoreError: The database cannot be reached.
        ConfigurationError: It is no PostgreSQL, or a name or an app is not accepted.
    """
    _Names(queue=name)
    url = os.environ.get("PEM_QUEUE_DB", "") if db is None else db
    if not names_database(url):
        raise ConfigurationError(
            "a queue needs a database, and no file; give it as --db postgresql://USER:PASSWORD@HOST/NAME, or "
            "in the variable PEM_QUEUE_DB"
        )
    jobs = App(connector=SyncPsycopgConnector(conninfo=url, min_size=1))
    with open_store(url) as store, jobs.open():
        store.saver.create_tables("procrastinate_jobs", jobs.schema_manager.get_schema())
        yield RunQueue(name, store, {each: import_orchestrator(each, store) for each in apps}, jobs, url)
