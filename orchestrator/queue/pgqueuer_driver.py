"""PgQueuer with a connection for questions of its own, a bound on jobs, and retries that outlast errors."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Final

import psycopg
from pgqueuer.adapters.drivers.psycopg import PsycopgDriver
from pgqueuer.adapters.persistence.qb import (
    QueryBuilderEnvironment,
    QueryQueueBuilder,
    QuerySchedulerBuilder,
)
from pgqueuer.adapters.persistence.queries import Queries
from pgqueuer.core.logconfig import logger
from pgqueuer.core.qm import QueueManager
from pgqueuer.domain.models import Job, TracebackRecord
from pgqueuer.domain.settings import DBSettings
from pgqueuer.ports.driver import Driver
from psycopg import AsyncConnection

from orchestrator.queue.pgqueuer_tables import PREFIX
from orchestrator.state.plain_values import format_one_line

SETTINGS: Final = DBSettings(prefix=PREFIX)
_log: Final = logging.getLogger(__name__)


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
