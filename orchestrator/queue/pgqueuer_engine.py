"""The engine of a queue: PgQueuer in the PostgreSQL that stores the runs. Needs the extra [distributed]."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Final, cast

import psycopg
from pgqueuer.adapters.drivers.psycopg import PsycopgDriver, SyncPsycopgDriver
from pgqueuer.adapters.persistence.qb import (
    QueryBuilderEnvironment,
    QueryQueueBuilder,
    QuerySchedulerBuilder,
)
from pgqueuer.adapters.persistence.queries import Queries, SyncQueries
from pgqueuer.core.qm import QueueManager
from pgqueuer.domain.errors import PgqException, RetryRequested
from pgqueuer.domain.models import Context, Job, TracebackRecord
from pgqueuer.domain.settings import DBSettings
from pgqueuer.domain.types import JobId
from pgqueuer.ports.driver import Driver
from psycopg import AsyncConnection, Connection
from pydantic import ValidationError

from agents.sync import run_sync
from orchestrator.errors import OrchestratorError, StoreLostError
from orchestrator.persistence import Store
from orchestrator.persistence.postgres import PostgresRunSaver, open_postgres, setup_lock
from orchestrator.persistence.serializer import build_serializer
from orchestrator.queue.pgqueuer_tables import (
    COUNT_TAKEN,
    CREATE_WORKERS,
    FIND,
    FORGET_FAILED,
    HAS_QUEUE,
    PAYLOAD,
    PREFIX,
)
from orchestrator.queue.queue_engine import JobHandler
from orchestrator.queue.queued_job import QueuedJob
from orchestrator.state.plain_values import format_one_line
from orchestrator.tuning.recorded_replies import CREATE_REPLIES

_SETTINGS: Final = DBSettings(prefix=PREFIX)
_MOST_DEATHS: Final = 10
"""So that a run that kills its worker does not kill one after another for ever."""
_log: Final = logging.getLogger(__name__)


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
            connection.execute(CREATE_REPLIES)
            if self.is_installed():
                run_sync(partial(self._ask, Queries.upgrade))
            else:
                script = QueryBuilderEnvironment(_SETTINGS).build_install_query()
                with connection.transaction():
                    connection.execute(script.encode(), prepare=False)
                    connection.execute(CREATE_WORKERS)

    def is_installed(self) -> bool:
        """Checks whether there are tables."""
        return bool(self.saver.select(HAS_QUEUE, ())[0][0])

    def enqueue(self, job: QueuedJob) -> bool:
        """Adds a job, in place of a failed one; returns False if a job of its name is there."""
        self.saver.change(FORGET_FAILED, [(job.key,)])
        with self.saver.connection() as connection:
            queries = SyncQueries(
                SyncPsycopgDriver(cast("Connection", connection)), QueryQueueBuilder(_SETTINGS)
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
        rows = self.saver.select(PAYLOAD, (key,))
        return QueuedJob.model_validate_json(rows[0][0]) if rows else None

    def remove(self, keys: Sequence[str]) -> list[str]:
        """Removes jobs by name, and tells the workers that execute them; returns the routes of the jobs."""
        jobs = self.saver.select(FIND, ([*keys],))
        numbers = [JobId(number) for number, _, _, _ in jobs]
        if numbers:
            run_sync(partial(self._ask, lambda queries: queries.mark_job_as_cancelled(numbers)))
        return [route for _, route, _, _ in jobs]

    async def _ask(self, ask: Callable[[Queries], Awaitable[None]]) -> None:
        async with await self._connect() as connection:
            await ask(_build_queries(PsycopgDriver(connection)))

    def read_states(self, keys: Sequence[str]) -> dict[str, str]:
        """Returns the states of jobs by name, without those that have ended."""
        return {key: state for _, _, key, state in self.saver.select(FIND, ([*keys],))}

    async def work(
        self,
        routes: Sequence[str],
        handler: JobHandler,
        stop: asyncio.Event,
        *,
        concurrency: int,
        heartbeat_s: float,
    ) -> None:
        """Executes jobs until ``stop`` is set; see ``QueueEngine``."""
        try:
            async with await self._connect() as asking, await self._connect() as listening:
                driver = _TwoConnections(asking, listening, handler.interrupt)
                manager = _Manager(_build_queries(driver), _SETTINGS.channel)
                manager.shutdown, manager.most = stop, concurrency
                deliver = _deliver_to(handler, driver)
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


class _TwoConnections(PsycopgDriver):
    """Asks on a connection of its own: the one that listens makes questions wait for up to a second."""

    def __init__(
        self,
        asking: AsyncConnection,
        listening: AsyncConnection,
        on_failure: Callable[[], None],
    ) -> None:
        super().__init__(listening)
        self._asked, self._on_failure = PsycopgDriver(asking), on_failure

    async def fetch(self, query: str, *args: object) -> list[dict[str, object]]:
        try:
            return await self._asked.fetch(query, *args)
        except psycopg.Error:
            # The manager raises this, but only after the last run has ended.
            self._on_failure()
            raise

    async def execute(self, query: str, *args: object) -> str:
        return await self._asked.execute(query, *args)

    async def notify(self, channel: str, payload: str) -> None:
        # Where it listens: the first health check must not overtake the LISTEN.
        await super().execute("SELECT pg_notify($1, $2)", channel, payload)


class _Manager(QueueManager):
    """Takes no more jobs than it may execute at once."""

    most: int

    async def fetch_jobs(
        self, batch_size: int, global_concurrency_limit: int | None, heartbeat_timeout: timedelta
    ) -> AsyncGenerator[Job, None]:
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


def _build_queries(driver: Driver) -> Queries:
    return _SteadyQueries(
        driver,
        QueryBuilderEnvironment(_SETTINGS),
        QueryQueueBuilder(_SETTINGS),
        QuerySchedulerBuilder(_SETTINGS),
    )


def _read_job(job: Job) -> QueuedJob:
    """Reads a job, of which the worker was given the route only."""
    with suppress(ValidationError):
        queued = QueuedJob.model_validate_json(job.payload or b"")
        if queued.route == job.entrypoint:
            return queued
    raise OrchestratorError(
        f"the job in the database does not fit its route {job.entrypoint!r:.300}; submit the run again"
    )


def _deliver_to(handler: JobHandler, driver: Driver) -> Callable[[Job, Context], Awaitable[None]]:
    async def deliver(job: Job, context: Context) -> None:
        # A job that is given back counts as an attempt; one that is taken over from a dead worker does not.
        [taken] = await driver.fetch(COUNT_TAKEN, job.id)
        if cast("int", taken["count"]) - job.attempts > _MOST_DEATHS:
            raise OrchestratorError(
                f"{_MOST_DEATHS} workers died while they executed it; find out why, and submit it again"
            )
        queued = _read_job(job)
        execution = asyncio.ensure_future(handler.execute(queued))
        # The scope cancels only this wait: a run that is cancelled ends by itself.
        with context.cancellation:
            await asyncio.wait({execution})
        if context.cancellation.cancel_called:
            await handler.cancel(queued)
        later = await execution
        if later is not None:
            raise RetryRequested(timedelta(seconds=later), "later")

    return deliver
