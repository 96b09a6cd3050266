"""Jobs of a queue, its workers and its status, with the SQL of their tables for ``RunSaver.select``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Final, Literal, TypeAlias

from pydantic import Field, StringConstraints

from orchestrator.errors import ConfigurationError
from orchestrator.runs.run_saver import RunSaver
from orchestrator.runtime.settings_model import SettingsModel
from orchestrator.settings import check_task

FORMAT: Final = 1
"""The version of a job. A worker takes only jobs of the versions that it knows, and leaves the others."""
MOST_CHARACTERS: Final = 200_000
"""The greatest size of a task."""
MOST_PRIORITY: Final = 1000
Kind: TypeAlias = Literal["run", "cancel"]
KINDS: Final[tuple[Kind, ...]] = ("run", "cancel")


def check_queued_task(task: str) -> str:
    """Returns the task of a run that a worker executes.

    Raises:
        ConfigurationError: It is too long, or ``check_task`` does not accept it.
    """
    if len(task) > MOST_CHARACTERS:
        raise ConfigurationError(
            f"a task of {len(task):,} characters is too long for a queue; give at most {MOST_CHARACTERS:,}, "
            "such as a task that says where a longer text is"
        )
    return check_task(task)


class QueuedJob(SettingsModel):
    """What a worker does: it executes a run, or ends a run that no worker executes.

    Attributes:
        queue: Name of the queue.
        app: The function that builds the orchestrator, as ``MODULE:FUNCTION``.
        task: What to do.
        thread_id: Name of the run.
        kind: "run", or "cancel".
        priority: A job with a greater number is taken first.
        after_s: How long it is delayed, in seconds.

    Raises:
        ConfigurationError: A value is not accepted.
    """

    queue: Annotated[
        str,
        StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,59}$"),
        Field(description="a name of at most 60 letters, digits, dots, dashes and underscores"),
    ]
    app: Annotated[
        str,
        StringConstraints(pattern=r"^[^\s/:]{1,150}:[^\s/:]{1,100}$"),
        Field(description="MODULE:FUNCTION, such as my_agents:build"),
    ]
    task: str
    thread_id: Annotated[
        str, StringConstraints(max_length=500), Field(description="a name of at most 500 characters")
    ]
    kind: Kind = "run"
    priority: Annotated[
        int, Field(ge=-1000, le=MOST_PRIORITY, description="a whole number from -1000 to 1000")
    ] = 0
    after_s: Annotated[int | float, Field(ge=0, le=31_622_400, description="seconds from 0 to a year")] = 0

    @property
    def route(self) -> str:
        """What a worker has to be able to do for this job."""
        return build_route(self.queue, self.kind, self.app)

    @property
    def key(self) -> str:
        """The job's name: a queue holds one job of a name, so that a cancelled run is not begun again."""
        return build_key(self.thread_id)


def build_route(queue: str, kind: Kind, app: str) -> str:
    """Builds the route of the jobs of a queue that need an app; ``read_route`` takes it apart."""
    return f"{queue}/{kind}.{FORMAT}/{app}"


def read_route(route: str) -> tuple[str, str, str]:
    """Returns the queue, the kind with the version, and the app of a route."""
    queue, kind, app = route.split("/", 2)
    return queue, kind, app


def build_key(thread_id: str) -> str:
    """Builds the name of the job of a run."""
    return f"run:{thread_id}"


PREFIX: Final = "orchestrator_"
"""So that the queue does not meet another use of PgQueuer in the same database."""
HAS_QUEUE: Final = "SELECT to_regclass('orchestrator_workers') IS NOT NULL"
CREATE_WORKERS: Final = """
    CREATE TABLE IF NOT EXISTS orchestrator_workers (
        id text PRIMARY KEY, queue text NOT NULL, routes text[] NOT NULL, host text NOT NULL,
        process integer NOT NULL, version text NOT NULL, concurrency integer NOT NULL,
        heartbeat_s double precision NOT NULL,
        started timestamptz NOT NULL DEFAULT now(), seen timestamptz NOT NULL DEFAULT now()
    )
"""
SHOW_LIFE: Final = """
    INSERT INTO orchestrator_workers (id, queue, routes, host, process, version, concurrency, heartbeat_s)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET seen = now()
"""
FORGET_WORKER: Final = "DELETE FROM orchestrator_workers WHERE id = ? OR seen < now() - interval '1 day'"
WORKERS: Final = """
    SELECT id, queue, routes, host, process, version, concurrency, started, seen,
        seen > now() - make_interval(secs => 2 * heartbeat_s)
    FROM orchestrator_workers
    WHERE greatest(started, seen) < '9000-01-01' AND least(started, seen) > '2000-01-01'
        AND heartbeat_s BETWEEN 0 AND 86400
    ORDER BY queue, host, process
"""
COUNTS: Final = """
    SELECT entrypoint, CASE WHEN status = 'picked' THEN 'running' WHEN status = 'failed' THEN 'failed'
        WHEN execute_after > now() THEN 'delayed' ELSE 'waiting' END AS state, count(*)
    FROM orchestrator_pgqueuer
    WHERE status IN ('queued', 'picked', 'failed') AND dedupe_key IS NOT NULL
        AND entrypoint ~ '^[^/]+/[^/]+/[^/]+$'
    GROUP BY 1, 2 ORDER BY 1, 2
"""
"""Leaves out jobs that have ended, and rows that another program wrote."""
FAILED: Final = """
    SELECT job.dedupe_key, job.updated, log.traceback ->> 'exception_message'
    FROM orchestrator_pgqueuer job LEFT JOIN LATERAL (
        SELECT traceback FROM orchestrator_pgqueuer_log WHERE job_id = job.id AND status = 'failed'
        ORDER BY id DESC LIMIT 1
    ) log ON true
    WHERE job.status = 'failed' AND job.dedupe_key IS NOT NULL
        AND job.updated BETWEEN '2000-01-01' AND '9000-01-01'
    ORDER BY job.updated DESC LIMIT 20
"""
ROUTES: Final = """
    SELECT id, entrypoint FROM orchestrator_pgqueuer
    WHERE dedupe_key = ? AND status IN ('queued', 'picked', 'failed') AND entrypoint ~ '^[^/]+/[^/]+/[^/]+$'
"""
REPLACE: Final = """
    UPDATE orchestrator_pgqueuer job SET entrypoint = ?, payload = ?, priority = ?, status = 'queued',
        execute_after = now(), updated = now(), queue_manager_id = NULL
    FROM (SELECT id, status::text FROM orchestrator_pgqueuer WHERE id = ? FOR UPDATE) earlier
    WHERE job.id = earlier.id RETURNING earlier.status
"""
REMOVE_WAITING: Final = "DELETE FROM orchestrator_pgqueuer WHERE dedupe_key = ? AND status = 'queued'"
PAYLOAD: Final = """
    SELECT payload FROM orchestrator_pgqueuer WHERE dedupe_key = ? AND status IN ('queued', 'picked')
"""
FORGET_FAILED: Final = "DELETE FROM orchestrator_pgqueuer WHERE dedupe_key = ? AND status = 'failed'"
COUNT_TAKEN: Final = """
    SELECT (SELECT entrypoint FROM orchestrator_pgqueuer WHERE id = $1) AS route, count(*) AS count
    FROM orchestrator_pgqueuer_log WHERE job_id = $1 AND status = 'picked'
"""
"""For PgQueuer's driver."""


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
