"""The engine of a queue: PgQueuer in the PostgreSQL that stores the runs. Needs the extra [distributed].

PgQueuer gets a connection for questions of its own, a bound on jobs, and retries that outlast errors.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from operator import methodcaller
from typing import Final, TypeAlias, cast

import psycopg
from pgqueuer.adapters.drivers.psycopg import PsycopgDriver, SyncPsycopgDriver
from pgqueuer.adapters.persistence.qb import (
    QueryBuilderEnvironment,
    QueryQueueBuilder,
    QuerySchedulerBuilder,
)
from pgqueuer.adapters.persistence.queries import Queries, SyncQueries
from pgqueuer.core.logconfig import logger
from pgqueuer.core.qm import QueueManager
from pgqueuer.domain.errors import PgqException, RetryRequested
from pgqueuer.domain.models import Context, Job, TracebackRecord
from pgqueuer.domain.settings import DBSettings
from pgqueuer.domain.types import JobId
from pgqueuer.ports.driver import Driver
from psycopg import AsyncConnection, Connection
from pydantic import ValidationError

from agents.sync import run_sync
from orchestrator.errors import ConfigurationError, OrchestratorError, StoreLostError
from orchestrator.persistence import Store
from orchestrator.persistence.postgres import PostgresRunSaver, open_postgres, setup_lock
from orchestrator.persistence.serializer import build_serializer
from orchestrator.queue import queue_records as tables
from orchestrator.queue.queue_records import MOST_PRIORITY, QueuedJob, build_key, read_route
from orchestrator.runs.run_saver import convert_store_errors
from orchestrator.state.plain_values import format_one_line

SETTINGS: Final = DBSettings(prefix=tables.PREFIX)
_log: Final = logging.getLogger(__name__)
_MOST_DEATHS: Final = 10
"""So that a run that kills its worker does not kill one after another for ever."""

_LOSSES: Final = (
    *("Unhandled exception in task", "Exception while processing"),
    *("Flush failed", "Shutdown flush failed", "Failed to send"),
)


@asynccontextmanager
async def hide_losses() -> AsyncGenerator[None, None]:
    """Keeps PgQueuer's log records about a lost connection from the console: the worker raises an error."""
    logger.addFilter(_is_shown)
    try:
        yield
    finally:
        logger.removeFilter(_is_shown)


def _is_shown(record: logging.LogRecord) -> bool:
    error = record.exc_info[1] if record.exc_info else None
    is_database = error is None or isinstance(error, psycopg.Error)
    return not (is_database and record.getMessage().startswith(_LOSSES))


class TwoConnections(PsycopgDriver):
    """Asks on a connection of its own: the one that listens makes questions wait for up to a second."""

    def __init__(
        self,
        asking: AsyncConnection,
        listening: AsyncConnection,
        on_failure: Callable[[], None],
    ) -> None:
        """Takes two connections; calls ``on_failure`` if a question fails, because the one is lost."""
        super().__init__(listening)
        self._asked, self._on_failure = PsycopgDriver(asking), on_failure

    async def fetch(self, query: str, *args: object) -> list[dict[str, object]]:
        """Returns the rows of a query."""
        try:
            return await self._asked.fetch(query, *args)
        except psycopg.Error:
            # The manager raises this, but only after the last run has ended.
            self._on_failure()
            raise

    async def execute(self, query: str, *args: object) -> str:
        """Executes a statement."""
        return await self._asked.execute(query, *args)

    async def notify(self, channel: str, payload: str) -> None:
        """Notifies those who listen."""
        # Where it listens: the first health check must not overtake the LISTEN.
        await super().execute("SELECT pg_notify($1, $2)", channel, payload)


class JobManager(QueueManager):
    """Takes no more jobs than it may execute at once."""

    most: int

    async def fetch_jobs(
        self, batch_size: int, global_concurrency_limit: int | None, heartbeat_timeout: timedelta
    ) -> AsyncGenerator[Job, None]:
        """Yields the jobs that it takes."""
        # ``run`` refuses limits below two batches.
        async for job in super().fetch_jobs(
            batch_size, global_concurrency_limit or self.most, heartbeat_timeout
        ):
            yield job


class _SteadyQueries(Queries):
    async def retry_job(self, job: Job, delay: timedelta, traceback_record: TracebackRecord | None) -> None:
        try:
            await super().retry_job(job, delay, traceback_record)
        except psycopg.Error as error:
            # It would count as failed. Without heartbeats, it is delivered again.
            _log.warning("job %s is delivered again later (%s)", job.id, format_one_line(error))


def build_queries(driver: Driver) -> Queries:
    """Builds PgQueuer's queries on the tables of our queues."""
    return _SteadyQueries(
        driver,
        QueryBuilderEnvironment(SETTINGS),
        QueryQueueBuilder(SETTINGS),
        QuerySchedulerBuilder(SETTINGS),
    )


Execute: TypeAlias = Callable[[QueuedJob], Awaitable[float | None]]
"""Executes a job, which may be delivered twice.

Returns None at its end, or the seconds after which it is delivered again.
"""


@dataclass(frozen=True, slots=True)
class PgQueuerEngine:
    """PgQueuer in a database.

    Attributes:
        saver: The saver of the store in this database.
        url: The URL of the database.
        name: The URL without its password.
    """

    saver: PostgresRunSaver
    url: str
    name: str

    def install(self) -> None:
        """Creates the tables of the store and its queues, or brings them up to date."""
        self.saver.create_tables()
        with self.saver.connection() as connection, setup_lock(connection, self.name):
            if self.is_installed():
                run_sync(partial(self._ask, Queries.upgrade))
            else:
                script = QueryBuilderEnvironment(SETTINGS).build_install_query()
                with connection.transaction():
                    connection.execute(script.encode(), prepare=False)
                    connection.execute(tables.CREATE_WORKERS)

    def is_installed(self) -> bool:
        """Checks whether there are tables."""
        return bool(self.saver.select(tables.HAS_QUEUE, ())[0][0])

    def enqueue(self, job: QueuedJob) -> bool:
        """Adds a job, in place of a failed one; returns False if a job of its name is there."""
        self.saver.change(tables.FORGET_FAILED, [(job.key,)])
        with self.saver.connection() as connection:
            queries = SyncQueries(
                SyncPsycopgDriver(cast("Connection", connection)), QueryQueueBuilder(SETTINGS)
            )
            numbers = queries.enqueue(
                job.route,
                job.model_dump_json().encode(),
                job.priority,
                timedelta(seconds=job.after_s),
                job.key,
                on_conflict="skip",
            )
        return numbers != [None]

    def find(self, key: str) -> QueuedJob | None:
        """Returns the job of a name that waits or is being executed, or None."""
        rows = self.saver.select(tables.PAYLOAD, (key,))
        return _read_payload(rows[0][0], f"the job {key!r:.300}") if rows else None

    def cancel(self, thread_id: str) -> str | None:
        """Replaces the job of a run by one that ends the run; returns the state of the replaced job, or None.

        The job keeps its number: the worker that executes it is told, and deletes it when the run has ended.
        Whatever happens to that worker, the job stays for the next one.
        """
        for number, route in self.saver.select(tables.ROUTES, (build_key(thread_id),)):
            queue, _, app = read_route(route)
            job = QueuedJob(
                queue=queue, app=app, task="", thread_id=thread_id, kind="cancel", priority=MOST_PRIORITY
            )
            values = (job.route, job.model_dump_json().encode(), job.priority, number)
            for (state,) in self.saver.select(tables.REPLACE, values):
                run_sync(partial(self._ask, methodcaller("notify_job_cancellation", [JobId(number)])))
                return str(state)
        return None

    def remove_waiting(self, thread_id: str) -> None:
        """Removes the job of a run unless a worker has it."""
        self.saver.change(tables.REMOVE_WAITING, [(build_key(thread_id),)])

    async def _ask(self, ask: Callable[[Queries], Awaitable[None]]) -> None:
        with convert_store_errors(self.name, psycopg.Error):
            async with await self._connect() as connection:
                await ask(build_queries(PsycopgDriver(connection)))

    async def work(
        self,
        routes: Sequence[str],
        execute: Execute,
        interrupt: Callable[[], None],
        stop: asyncio.Event,
        *,
        concurrency: int,
        heartbeat_s: float,
    ) -> None:
        """Executes jobs, each at least once, until ``stop`` is set and the last one has ended.

        Args:
            routes: The routes of the jobs that it takes.
            execute: Executes a job.
            interrupt: Stops all jobs at once, because the connection is lost; other workers continue them.
            stop: Set to take no further job.
            concurrency: How many jobs it executes at once.
            heartbeat_s: Seconds without a sign of life after which other workers take over its jobs.

        Raises:
            StoreLostError: The connection was lost. Other workers take over the jobs.
        """
        try:
            async with (
                await self._connect() as asking,
                await self._connect() as listening,
                hide_losses(),
            ):
                driver = TwoConnections(asking, listening, interrupt)
                manager = JobManager(build_queries(driver), SETTINGS.channel)
                manager.shutdown, manager.most = stop, concurrency
                deliver = _deliver_to(execute, driver)
                for route in routes:
                    manager.entrypoint(route, on_failure="hold", accepts_context=True)(deliver)
                await manager.run(
                    # An idle worker looks for jobs of dead workers as often as it looks for jobs.
                    dequeue_timeout=timedelta(seconds=heartbeat_s / 2),
                    batch_size=concurrency,
                    shutdown_on_listener_failure=True,
                    heartbeat_timeout=timedelta(seconds=heartbeat_s),
                )
        except (psycopg.Error, PgqException) as error:
            raise StoreLostError(
                f"the connection of the worker to {self.name} was lost ({format_one_line(error)}); start it "
                "again, as its supervisor does"
            ) from error

    async def _connect(self) -> AsyncConnection:
        return await AsyncConnection.connect(self.url, autocommit=True)


@contextmanager
def open_pgqueuer(url: str) -> Iterator[tuple[Store, PgQueuerEngine]]:
    """Opens a database, with or without tables; see ``open_engine``."""
    with open_postgres(url, build_serializer(None)) as (name, saver):
        yield Store(name, saver), PgQueuerEngine(saver, url, name)


def _read_job(job: Job) -> QueuedJob:
    """Reads a job, of which the worker was given the route only."""
    queued = _read_payload(job.payload, f"the job of the route {job.entrypoint!r:.300}")
    if queued.route != job.entrypoint:
        raise OrchestratorError(
            f"the job in the database does not fit its route {job.entrypoint!r:.300}; submit the run again"
        )
    return queued


def _read_payload(payload: bytes | None, name: str) -> QueuedJob:
    with suppress(ValidationError, ConfigurationError):
        return QueuedJob.model_validate_json(payload or b"")
    raise ConfigurationError(
        f"{name} cannot be read, because another program wrote it; remove it with `orchestrator queue "
        "--cancel`"
    )


async def _cancel(execute: Execute, job: QueuedJob, execution: asyncio.Future[float | None]) -> None:
    """Ends a run that is executed here, also one that has just begun."""
    ending = job.model_copy(update={"kind": "cancel"})
    while not execution.done() and (later := await execute(ending)) is not None:
        await asyncio.wait({execution}, timeout=later)


def _deliver_to(execute: Execute, driver: Driver) -> Callable[[Job, Context], Awaitable[None]]:
    async def deliver(job: Job, context: Context) -> None:
        # A job that is given back counts as an attempt; one that is taken over from a dead worker does not.
        [taken] = await driver.fetch(tables.COUNT_TAKEN, job.id)
        if taken["route"] != job.entrypoint:
            raise RetryRequested(timedelta(), "cancelled after it was taken, before it was told here")
        if cast("int", taken["count"]) - job.attempts > _MOST_DEATHS:
            raise OrchestratorError(
                f"{_MOST_DEATHS} workers died while they executed it; find out why, and submit it again"
            )
        queued = _read_job(job)
        execution = asyncio.ensure_future(execute(queued))
        # The scope cancels only this wait: a run that is cancelled ends by itself.
        with context.cancellation:
            await asyncio.wait({execution})
        if context.cancellation.cancel_called:
            await _cancel(execute, queued, execution)
        later = await execution
        if later is not None:
            raise RetryRequested(timedelta(seconds=later), "later")

    return deliver
