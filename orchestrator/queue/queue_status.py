"""The status of the queues of a database: jobs, workers, and failed jobs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from orchestrator.runs.run_saver import RunSaver

_IS_ALIVE: Final = "seen > now() - make_interval(secs => heartbeat_s)"
IS_RUNNING: Final = f"coalesce(worker IN (SELECT id FROM orchestrator_workers WHERE {_IS_ALIVE}), false)"  # noqa: S608 - constants
"""Whether a live worker has a job."""
_COUNTS: Final = f"""
    SELECT queue, app, (
            SELECT count(*) FROM orchestrator_workers AS worker
            WHERE worker.queue = job.queue AND job.app = ANY(apps) AND {_IS_ALIVE}
        ),
        count(*) FILTER (WHERE error IS NULL AND start_at <= now() AND NOT {IS_RUNNING}),
        count(*) FILTER (WHERE error IS NULL AND start_at > now() AND NOT {IS_RUNNING}),
        count(*) FILTER (WHERE error IS NULL AND {IS_RUNNING}),
        count(error)
    FROM orchestrator_jobs AS job GROUP BY queue, app ORDER BY queue, app
"""  # noqa: S608 - constants
_WORKERS: Final = f"""
    SELECT id, queue, apps, host, process, version, concurrency, started, seen, {_IS_ALIVE}
    FROM orchestrator_workers ORDER BY queue, host, process
"""  # noqa: S608 - constants
_FAILED: Final = """
    SELECT thread_id, failed_at, error FROM orchestrator_jobs
    WHERE error IS NOT NULL ORDER BY failed_at DESC LIMIT 20
"""


@dataclass(frozen=True, slots=True)
class WorkerLife:
    """A worker.

    Attributes:
        id: Its number.
        queue: The queue that it serves.
        apps: The apps whose jobs it takes.
        host: Name of its machine.
        process: Number of its process.
        version: Version of its software.
        concurrency: How many jobs it executes at once.
        started: When it started.
        seen: When it last gave a sign of life, by the clock of the database.
        is_alive: Whether that was within its heartbeat.
    """

    id: str
    queue: str
    apps: Sequence[str]
    host: str
    process: int
    version: str
    concurrency: int
    started: datetime
    seen: datetime
    is_alive: bool


@dataclass(frozen=True, slots=True)
class JobCount:
    """The jobs of a queue that need the same app.

    Attributes:
        queue: Name of the queue.
        app: The function that builds the orchestrator.
        workers: Number of live workers that take such jobs.
        waiting: Number of jobs that a worker may take now.
        delayed: Number of jobs that start later, or are tried again later.
        running: Number of jobs that workers execute.
        failed: Number of jobs that raised an error; a job whose run fails has ended well.
    """

    queue: str
    app: str
    workers: int
    waiting: int
    delayed: int
    running: int
    failed: int


@dataclass(frozen=True, slots=True)
class FailedJob:
    """A job that raised an error; its run can be submitted again."""

    thread_id: str
    failed_at: datetime
    reason: str


@dataclass(frozen=True, slots=True)
class QueueStatus:
    """The jobs of all queues of a database, its workers, and the latest 20 failed jobs."""

    jobs: tuple[JobCount, ...]
    workers: tuple[WorkerLife, ...]
    failed: tuple[FailedJob, ...]


def read_queue_status(saver: RunSaver) -> QueueStatus | None:
    """Reads the queues of a store; returns None if it has none.

    Raises:
        StoreLostError: The store cannot be read.
    """
    if not saver.has_table("orchestrator_workers"):
        return None
    return QueueStatus(
        tuple(JobCount(*row) for row in saver.select(_COUNTS, ())),
        tuple(WorkerLife(*row) for row in saver.select(_WORKERS, ())),
        tuple(FailedJob(*row) for row in saver.select(_FAILED, ())),
    )
