"""The queue of runs: jobs and workers, in two tables of the PostgreSQL that stores the runs."""

from __future__ import annotations

import os
import threading
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Final

from pydantic import Field, StringConstraints

from orchestrator.errors import ConfigurationError
from orchestrator.persistence import Store, open_store
from orchestrator.persistence.store import names_database
from orchestrator.runtime.budget import SettingsModel
from orchestrator.settings import check_task, check_thread_id
from orchestrator.state.graph_state import ENDED
from orchestrator.state.plain_values import format_repr
from orchestrator.study.targets import import_orchestrator

_IS_ALIVE: Final = "seen > now() - make_interval(secs => heartbeat_s)"
_IS_RUNNING: Final = f"coalesce(worker IN (SELECT id FROM orchestrator_workers WHERE {_IS_ALIVE}), false)"  # noqa: S608 - constants
"""Whether a live worker has a job."""
_COUNTS: Final = f"""
    SELECT queue, app, (
            SELECT count(*) FROM orchestrator_workers AS worker
            WHERE worker.queue = job.queue AND job.app = ANY(apps) AND {_IS_ALIVE}
        ),
        count(*) FILTER (WHERE error IS NULL AND start_at <= now() AND NOT {_IS_RUNNING}),
        count(*) FILTER (WHERE error IS NULL AND start_at > now() AND NOT {_IS_RUNNING}),
        count(*) FILTER (WHERE error IS NULL AND {_IS_RUNNING}),
        count(error)
    FROM orchestrator_jobs AS job GROUP BY queue, app ORDER BY queue, app
"""  # noqa: S608 - constants
_WORKERS: Final = f"SELECT count(*) FROM orchestrator_workers WHERE {_IS_ALIVE}"  # noqa: S608 - constants
_FAILED: Final = """
    SELECT thread_id, failed_at, error FROM orchestrator_jobs
    WHERE error IS NOT NULL ORDER BY failed_at DESC LIMIT 20
"""
_CREATE: Final = """
    CREATE TABLE IF NOT EXISTS orchestrator_jobs (
        thread_id text PRIMARY KEY, queue text NOT NULL, app text NOT NULL, task text NOT NULL,
        start_at timestamptz NOT NULL,
        submitted timestamptz NOT NULL DEFAULT clock_timestamp(), is_cancelled boolean NOT NULL DEFAULT false,
        worker text, taken integer NOT NULL DEFAULT 0, error text, failed_at timestamptz
    );
    CREATE INDEX IF NOT EXISTS orchestrator_jobs_next ON orchestrator_jobs (queue, submitted);
    CREATE TABLE IF NOT EXISTS orchestrator_workers (
        id text PRIMARY KEY, queue text NOT NULL, apps text[] NOT NULL,
        heartbeat_s double precision NOT NULL, seen timestamptz NOT NULL DEFAULT now()
    )
"""
_ADD: Final = """
    INSERT INTO orchestrator_jobs AS job (queue, app, task, thread_id, start_at)
    VALUES (?, ?, ?, ?, now())
    ON CONFLICT (thread_id) DO UPDATE SET queue = excluded.queue, app = excluded.app, task = excluded.task,
        start_at = excluded.start_at, submitted = excluded.submitted,
        worker = NULL, taken = 0, error = NULL
    WHERE job.error IS NOT NULL
    RETURNING thread_id
"""
_FIND: Final = "SELECT task, app, queue, is_cancelled FROM orchestrator_jobs WHERE thread_id = ?"
_CANCEL: Final = """
    UPDATE orchestrator_jobs SET is_cancelled = true, start_at = now(), taken = 0, error = NULL
    WHERE thread_id = ? RETURNING worker
"""
_REMOVE_WAITING: Final = "DELETE FROM orchestrator_jobs WHERE thread_id = ? AND worker IS NULL"
_SHOW_LIFE: Final = """
    INSERT INTO orchestrator_workers (id, queue, apps, heartbeat_s) VALUES (?, ?, ?, ?)
    ON CONFLICT (id) DO UPDATE SET seen = now()
"""
_FORGET_WORKER: Final = "DELETE FROM orchestrator_workers WHERE id = ? OR seen < now() - interval '1 day'"
_TAKE: Final = f"""
    UPDATE orchestrator_jobs SET worker = ?, taken = taken + 1 WHERE thread_id IN (
        SELECT thread_id FROM orchestrator_jobs
        WHERE queue = ? AND app = ANY(?) AND error IS NULL AND start_at <= now() AND NOT {_IS_RUNNING}
        ORDER BY is_cancelled DESC, submitted LIMIT ? FOR UPDATE SKIP LOCKED
    ) RETURNING thread_id, app, task, is_cancelled, taken
"""  # noqa: S608 - constants
_LIST_CANCELLED: Final = "SELECT thread_id FROM orchestrator_jobs WHERE worker = ? AND is_cancelled"
_END: Final = "DELETE FROM orchestrator_jobs WHERE thread_id = ? AND worker = ?"
_DELAY: Final = """
    UPDATE orchestrator_jobs SET worker = NULL, taken = taken - 1, start_at = now() + make_interval(secs => ?)
    WHERE thread_id = ? AND worker = ?
"""
_FAIL: Final = """
    UPDATE orchestrator_jobs SET worker = NULL, error = ?, failed_at = now()
    WHERE thread_id = ? AND worker = ?
"""


class QueuedRun(SettingsModel):
    """A run that is submitted.

    Attributes:
        queue: Name of the queue.
        app: The function that builds the orchestrator, as ``MODULE:FUNCTION``.
        task: What to do.
        thread_id: Name of the run.

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
    task: Annotated[
        str,
        StringConstraints(max_length=200_000),
        Field(description="at most 200,000 characters, such as a task that says where a longer text is"),
    ]
    thread_id: Annotated[
        str, StringConstraints(max_length=500), Field(description="a name of at most 500 characters")
    ]


DONE: Final = frozenset({*ENDED, "waiting"})
"""The statuses of a run that needs no worker."""


@dataclass(frozen=True, slots=True)
class Submission:
    """What became of a task.

    Attributes:
        thread_id: Name of the run.
        queue: Name of the queue.
        status: "queued"; "queued before", if the queue has a job for this run; "being cancelled", if a worker
            has yet to end the run; or "success", "failed" or "waiting" (for a person), the status of the run
            on this thread, for which nothing was queued.
    """

    thread_id: str
    queue: str
    status: str


@dataclass(frozen=True, slots=True)
class Job:
    """A job that a worker has taken.

    Attributes:
        thread_id: Name of the run.
        app: The function that builds the orchestrator.
        task: What to do.
        is_cancelled: Whether the run is to be ended.
        taken: How often it was taken without being given back; more than once if workers died.
    """

    thread_id: str
    app: str
    task: str
    is_cancelled: bool
    taken: int


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


@dataclass(frozen=True, slots=True)
class JobQueue:
    """A queue of runs; ``open_queue`` opens it.

    Attributes:
        store: The store of the runs.
        name: Name of the queue.
    """

    store: Store
    name: str
    _checked: set[str] = field(default_factory=set)
    _building: threading.Lock = field(default_factory=threading.Lock)

    def submit(self, task: str, *, app: str, thread_id: str | None = None) -> Submission:
        """Queues a run. A thread is queued once: the same call may be repeated after an error.

        Args:
            task: What to do, at most 200,000 characters.
            app: ``MODULE:FUNCTION`` that takes the store and returns the orchestrator. It is built here once,
                so that a mistake is noticed before anything is queued.
            thread_id: Name of the run. Default: a new name. A run that was interrupted is resumed.

        Raises:
            ConfigurationError: An argument is not accepted, or the thread has a run of another task, or is
                queued with another task or app, or in another queue. Nothing was queued.
            StoreLostError: The database cannot be reached.
        """
        check_thread_id(thread_id)
        name = thread_id or str(uuid.uuid4())
        run = QueuedRun(queue=self.name, app=app, task=check_task(task), thread_id=name)
        # One thread imports and builds the app: the user's module may not be made for several.
        with self._building:
            if app not in self._checked:
                import_orchestrator(app, self.store)
                self._checked.add(app)
        return Submission(name, self.name, self._add(run))

    def _add(self, run: QueuedRun) -> str:
        """Queues a run, and returns the status of its submission."""
        known = self.store.history.find(run.thread_id)
        if known is not None and known.task != run.task:
            raise ConfigurationError(
                f"thread {format_repr(run.thread_id, 80)} has a run of another task; give another thread_id"
            )
        if known is not None and known.status in DONE:
            return known.status
        if self.store.saver.select(_ADD, (*run.model_dump().values(),)):
            return "queued"
        rows = self.store.saver.select(_FIND, (run.thread_id,))
        if not rows:  # it has ended since
            return self._add(run)
        [(*values, is_cancelled)] = rows
        if is_cancelled:
            return "being cancelled"
        _check_same(run, dict(zip(("task", "app", "queue"), values, strict=True)))
        return "queued before"

    def cancel(self, thread_id: str) -> bool:
        """Ends a run for good, wherever it is: its worker ends it as failed, or the next worker if that dies.

        A run that has not begun leaves the queue. A run that has ended stays as it is.

        Returns:
            Whether the queue had a job of this run. A run that waits for a person has none:
            ``LangGraphOrchestrator.cancel`` ends it.
        """
        check_thread_id(thread_id)
        workers = self.store.saver.select(_CANCEL, (thread_id,))
        if workers == [(None,)] and self.store.history.find(thread_id) is None:
            self.store.saver.change(_REMOVE_WAITING, [(thread_id,)])
        return bool(workers)

    def read_status(self) -> QueueStatus:
        """Reads the jobs and the workers of all queues of this database.

        Raises:
            StoreLostError: The database cannot be read.
        """
        select = self.store.saver.select
        ((workers,),) = select(_WORKERS, ())
        jobs = tuple(JobCount(*row) for row in select(_COUNTS, ()))
        return QueueStatus(jobs, workers, tuple(FailedJob(*row) for row in select(_FAILED, ())))

    def take_jobs(self, worker: str, apps: Sequence[str], most: int) -> list[Job]:
        """Takes jobs for a worker, also the jobs of dead workers."""
        rows = self.store.saver.select(_TAKE, (worker, self.name, [*apps], most)) if most else ()
        return [Job(*row) for row in rows]

    def list_cancelled(self, worker: str) -> list[str]:
        """Lists the runs that a worker has to end."""
        return [thread_id for (thread_id,) in self.store.saver.select(_LIST_CANCELLED, (worker,))]

    def end_job(self, worker: str, thread_id: str) -> None:
        """Removes a job that has ended, unless another worker has it."""
        self.store.saver.change(_END, [(thread_id, worker)])

    def delay_job(self, worker: str, thread_id: str, seconds: float) -> None:
        """Gives a job back, to be taken later."""
        self.store.saver.change(_DELAY, [(seconds, thread_id, worker)])

    def fail_job(self, worker: str, thread_id: str, reason: str) -> None:
        """Notes that a job raised an error."""
        self.store.saver.change(_FAIL, [(reason, thread_id, worker)])

    def show_life(self, worker: str, apps: Sequence[str], heartbeat_s: float) -> None:
        """Stores a sign of life of a worker."""
        self.store.saver.change(_SHOW_LIFE, [(worker, self.name, [*apps], heartbeat_s)])

    def forget_worker(self, worker: str) -> None:
        """Forgets a worker that has ended."""
        self.store.saver.change(_FORGET_WORKER, [(worker,)])


@contextmanager
def open_queue(db: str | None = None, queue: str = "default") -> Iterator[JobQueue]:
    """Opens a queue for the block, and creates the tables that the database lacks.

    Args:
        db: The ``postgresql://`` URL of the store. Default: the environment variable ``PEM_QUEUE_DB``.
        queue: Name of the queue; it needs no creation.

    Raises:
        StoreError: The database cannot be reached.
        ConfigurationError: It is no PostgreSQL, the name is not accepted, or the extra is not installed.
    """
    QueuedRun(queue=queue, app="any:app", task="", thread_id="")  # checks the name
    url = os.environ.get("PEM_QUEUE_DB", "") if db is None else db
    if not names_database(url):
        raise ConfigurationError(
            "a queue needs a database, and no file; give it as --db postgresql://USER:PASSWORD@HOST/NAME, or "
            "in the variable PEM_QUEUE_DB"
        )
    with open_store(url) as store:
        store.saver.create_tables("orchestrator_workers", _CREATE)
        yield JobQueue(store, queue)


def _check_same(run: QueuedRun, queued: dict[str, str]) -> None:
    """Checks that a run is queued as it was before.

    Raises:
        ConfigurationError: It is queued with another task, app or queue.
    """
    others = [name for name, value in queued.items() if getattr(run, name) != value]
    if others:
        raise ConfigurationError(
            f"thread {format_repr(run.thread_id, 80)} is queued with another "
            f"{' and another '.join(others)} ({format_repr(queued[others[0]], 80)}); let it end, cancel it "
            "with `orchestrator queue --cancel`, or give another name"
        )
