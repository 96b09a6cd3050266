"""Submits runs to a queue, cancels them, and reads the status of the queue."""

from __future__ import annotations

import os
import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from evaluation.sensitive.scanner import describe_raised
from orchestrator.engine import LangGraphOrchestrator
from orchestrator.errors import ConfigurationError, OrchestratorError, StoreError
from orchestrator.persistence import Store
from orchestrator.persistence.store import names_database
from orchestrator.queue.queue_records import QueuedJob, QueueStatus, check_queued_task, read_queue_status
from orchestrator.settings import check_thread_id
from orchestrator.state.graph_state import ENDED
from orchestrator.state.plain_values import format_repr
from orchestrator.study.named_functions import import_name

if TYPE_CHECKING:
    from orchestrator.queue.pgqueuer_engine import PgQueuerEngine  # an extra


def import_orchestrator(name: str, store: Store) -> LangGraphOrchestrator:
    """Imports a function and calls it with the store. No name that a store states may come here.

    Args:
        name: ``MODULE:FUNCTION``, of an installed package or of a module in the working directory.
        store: The store, which the function gives to its orchestrator.

    Raises:
        ConfigurationError: It cannot be imported, raises, or returns no orchestrator that uses the store.
    """
    try:
        build: Callable[[Store], object] = import_name(name, Path.cwd())
    except ValueError as error:
        raise ConfigurationError(f"the app {error}") from error
    try:
        made = build(store)
    except OrchestratorError:
        raise
    except BaseException as error:  # the user's code
        raise ConfigurationError(
            f"the app {name!r} raised {describe_raised(error)}; give a function that takes the store and "
            "returns a LangGraphOrchestrator"
        ) from error
    if not isinstance(made, LangGraphOrchestrator):
        raise ConfigurationError(
            f"the app {name!r} returned {type(made).__name__}, not an orchestrator; give a function "
            "that takes the store and returns a LangGraphOrchestrator"
        )
    if made.graph.checkpointer is None:
        raise ConfigurationError(
            f"the orchestrator of the app {name!r} stores no runs; build it with checkpointer=store, the "
            "argument of the function"
        )
    return made


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
class JobQueue:
    """A queue of runs; ``open_queue`` opens it.

    Attributes:
        store: The store of the runs.
        engine: The engine.
        name: Name of the queue.
    """

    store: Store
    engine: PgQueuerEngine
    name: str
    _checked: set[str] = field(default_factory=set)
    _building: threading.Lock = field(default_factory=threading.Lock)

    def submit(
        self,
        task: str,
        *,
        app: str,
        thread_id: str | None = None,
        priority: int = 0,
        after_s: float = 0,
    ) -> Submission:
        """Queues a run. A thread is queued once: the same call may be repeated after an error.

        Args:
            task: What to do, at most 200,000 characters.
            app: ``MODULE:FUNCTION`` that takes the store and returns the orchestrator. It is built here once,
                so that a mistake is noticed before anything is queued.
            thread_id: Name of the run. Default: a new name. A run that was interrupted is resumed.
            priority: From -1000 to 1000; greater ones first.
            after_s: How long the start is delayed, in seconds.

        Raises:
            ConfigurationError: An argument is not accepted, or the thread has a run of another task, or is
                queued with another task or app, or in another queue. Nothing was queued.
            StoreLostError: The database cannot be reached.
        """
        check_thread_id(thread_id)
        name = thread_id or str(uuid.uuid4())
        job = QueuedJob(
            queue=self.name,
            app=app,
            task=check_queued_task(task),
            thread_id=name,
            priority=priority,
            after_s=after_s,
        )
        # One thread imports and builds the app: the user's module may not be made for several.
        with self._building:
            if app not in self._checked:
                import_orchestrator(app, self.store)
                self._checked.add(app)
        return Submission(name, self.name, self._queue(job))

    def _queue(self, job: QueuedJob) -> str:
        """Queues a job, and returns the status of its submission."""
        known = self.store.history.find(job.thread_id)
        if known is not None and known.task != job.task:
            raise ConfigurationError(
                f"thread {format_repr(job.thread_id, 80)} has a run of another task; give another thread_id"
            )
        if known is not None and known.status in DONE:
            return known.status
        if self.engine.enqueue(job):
            return "queued"
        queued = self.find(job)
        if queued is None:  # it has ended since
            return self._queue(job)
        return "queued before" if queued.kind == "run" else "being cancelled"

    def find(self, job: QueuedJob) -> QueuedJob | None:
        """Returns the job of the same run that waits or is being executed, also one that ends the run.

        Raises:
            ConfigurationError: The run is queued with another task, app or queue, or its job cannot be read.
        """
        queued = self.engine.find(job.key)
        if queued is None or queued.kind == "cancel":
            return queued
        others = [name for name in ("task", "app", "queue") if getattr(job, name) != getattr(queued, name)]
        if others:
            known = format_repr(getattr(queued, others[0]), 80)
            raise ConfigurationError(
                f"thread {format_repr(job.thread_id, 80)} is queued with another "
                f"{' and another '.join(others)} ({known}); let it end, cancel it with "
                "`orchestrator queue --cancel`, or give another name"
            )
        return queued

    def cancel(self, thread_id: str) -> bool:
        """Ends a run for good, wherever it is: its worker ends it as failed, or the next worker if that dies.

        A run that has not begun leaves the queue. A run that has ended stays as it is.

        Returns:
            Whether the queue had a job of this run. A run that waits for a person has none:
            ``LangGraphOrchestrator.cancel`` ends it.
        """
        check_thread_id(thread_id)
        state = self.engine.cancel(thread_id)
        if state not in (None, "picked") and self.store.history.find(thread_id) is None:
            self.engine.remove_waiting(thread_id)
        return state is not None

    def read_status(self) -> QueueStatus:
        """Reads the jobs and the workers of all queues of this database."""
        return read_queue_status(self.store.saver) or QueueStatus((), (), ())


@contextmanager
def open_queue(db: str | None = None, queue: str = "default") -> Iterator[JobQueue]:
    """Opens a queue for the block.

    Args:
        db: The ``postgresql://`` URL of the store. Default: the environment variable ``PEM_QUEUE_DB``.
        queue: Name of the queue; it needs no creation.

    Raises:
        StoreError: The database cannot be reached, or has no queue.
        ConfigurationError: It is no PostgreSQL, the name is not accepted, or the extra is not installed.
    """
    check_queue_name(queue)
    with open_engine(db) as (store, engine):
        if not engine.is_installed():
            raise StoreError(
                f"{store.where} has no queue; start a worker on it, or run `orchestrator queue --install`"
            )
        yield JobQueue(store, engine, queue)


def check_queue_name(queue: str) -> None:
    """Checks the name of a queue.

    Raises:
        ConfigurationError: It is none.
    """
    QueuedJob(queue=queue, app="any:app", task="", thread_id="")


def open_engine(db: str | None) -> AbstractContextManager[tuple[Store, PgQueuerEngine]]:
    """Opens a store and the engine of its queues for a block. Their tables may be missing.

    ``db`` is the URL of the store; None for the environment variable ``PEM_QUEUE_DB``.

    Raises:
        ConfigurationError: The store is no PostgreSQL, or the extra is not installed.
        StoreError: The database cannot be reached.
    """
    url = os.environ.get("PEM_QUEUE_DB", "") if db is None else db
    if not names_database(url):
        raise ConfigurationError(
            "a queue needs a database, and no file; give it as --db postgresql://USER:PASSWORD@HOST/NAME, or "
            "in the variable PEM_QUEUE_DB"
        )
    try:
        from orchestrator.queue.pgqueuer_engine import open_pgqueuer  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise ConfigurationError(
            f"a queue needs the extra [distributed] ({error}); install plan-execute-monitor[distributed]"
        ) from error
    return open_pgqueuer(url)
