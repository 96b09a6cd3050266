"""Reads how many jobs a queue has, and which workers live."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from orchestrator.queue.pgqueuer_tables import COUNTS, FAILED, HAS_QUEUE, WORKERS
from orchestrator.queue.queued_job import read_route
from orchestrator.runs.run_saver import RunSaver


@dataclass(frozen=True, slots=True)
class JobCount:
    """The jobs of a queue that need the same app.

    Attributes:
        queue: Name of the queue.
        kind: The kind of the jobs, with their version.
        app: The function that builds the orchestrator.
        workers: Number of live workers that take such jobs.
        waiting: Number of jobs that a worker may take now.
        delayed: Number of jobs that start later, or are tried again later.
        running: Number of jobs that workers execute.
        failed: Number of jobs that raised an error; a job whose run fails has ended well.
    """

    queue: str
    kind: str
    app: str
    workers: int
    waiting: int = 0
    delayed: int = 0
    running: int = 0
    failed: int = 0


@dataclass(frozen=True, slots=True)
class WorkerLife:
    """A worker.

    Attributes:
        id: Its number.
        queue: The queue that it serves.
        routes: The kinds of jobs that it takes.
        host: Name of its machine.
        process: Number of its process.
        version: Version of its software.
        concurrency: How many jobs it executes at once.
        started: When it started.
        seen: When it last gave a sign of life, by the clock of the database.
        is_alive: Whether that was within two heartbeats.
    """

    id: str
    queue: str
    routes: tuple[str, ...]
    host: str
    process: int
    version: str
    concurrency: int
    started: datetime
    seen: datetime
    is_alive: bool


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

    def describe_left(self, queue: str) -> frozenset[str]:
        """Says which kinds of jobs wait in a queue although no live worker takes them."""
        return frozenset(
            f"jobs of {job.kind} {job.app} wait in {queue}, and no worker takes them; start one with the "
            "same --app"
            for job in self.jobs
            if job.queue == queue and job.waiting and not job.workers
        )


def read_queue_status(saver: RunSaver) -> QueueStatus | None:
    """Reads the queues of a store; returns None if it has none.

    Raises:
        StoreLostError: The store cannot be read.
    """
    if not saver.HOLDS_QUEUES or not saver.select(HAS_QUEUE, ())[0][0]:
        return None
    workers = tuple(WorkerLife(row[0], row[1], tuple(row[2]), *row[3:]) for row in saver.select(WORKERS, ()))
    failed = tuple(
        FailedJob(key.partition(":")[2], updated, reason or "")
        for key, updated, reason in saver.select(FAILED, ())
    )
    return QueueStatus(tuple(_count_jobs(saver.select(COUNTS, ()), workers)), workers, failed)


def _count_jobs(rows: Sequence[tuple[str, str, int]], workers: Sequence[WorkerLife]) -> Iterator[JobCount]:
    for route in dict.fromkeys(route for route, _, _ in rows):
        counts = {state: number for each, state, number in rows if each == route}
        takers = sum(worker.is_alive and route in worker.routes for worker in workers)
        queue, kind, app = read_route(route)
        yield JobCount(queue, kind, app, takers, **counts)
