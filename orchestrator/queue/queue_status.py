"""The status of the queues of a database: jobs, workers, and failed jobs."""

from __future__ import annotations

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
_WORKERS: Final = f"SELECT count(*) FROM orchestrator_workers WHERE {_IS_ALIVE}"  # noqa: S608 - constants
_FAILED: Final = """
    SELECT thread_id, failed_at, error FROM orchestrator_jobs
    WHERE error IS NOT NULL ORDER BY failed_at DESC LIMIT 20
"""


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
    """The jobs of all queues of a database, the number of its live workers, and the latest 20 failed jobs."""

    jobs: tuple[JobCount, ...]
    workers: int
    failed: tuple[FailedJob, ...]


def read_queue_status(saver: RunSaver) -> QueueStatus:
    """Reads the queues of a store, which has the tables.

    Raises:
        StoreLostError: The store cannot be read.
    """
    ((workers,),) = saver.select(_WORKERS, ())
    return QueueStatus(
        tuple(JobCount(*row) for row in saver.select(_COUNTS, ())),
        workers,
        tuple(FailedJob(*row) for row in saver.select(_FAILED, ())),
    )
