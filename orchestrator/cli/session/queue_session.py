"""Runs a worker of a queue, creates its tables, and lets its workers execute the cases of an evaluation."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import typer

from agents.sync import run_loop
from orchestrator.cli.process_exit import stop_on_signal
from orchestrator.cli.view.consoles import one_line
from orchestrator.errors import ConfigurationError
from orchestrator.limits import read_limits, share_limits
from orchestrator.queue import JobQueue, open_queue
from orchestrator.queue.job_queue import check_queue_name, open_engine
from orchestrator.queue.queue_apps import import_app, import_orchestrator
from orchestrator.queue.queue_worker import QueueWorker
from orchestrator.queue.queued_cases import QueuedCases


def run_worker(
    db: str,
    queue: str,
    apps: Sequence[str],
    *,
    concurrency: int,
    heartbeat_s: float,
    grace_s: float,
    limits: Sequence[str] = (),
) -> None:
    """Executes the jobs of a queue; the arguments are those of ``QueueWorker`` and ``share_limits``.

    Raises:
        ConfigurationError: An argument is not accepted.
        ModelSpecError: A limit is not accepted.
        StoreError: The database cannot be reached.
        StoreLostError: The connection was lost.
    """
    # Checked before the store is opened, which creates its tables.
    check_queue_name(queue)
    read = read_limits(limits)
    for app in apps:
        import_app(app)
    with open_engine(db, make=True) as (store, engine), share_limits(store, read):
        built = {app: import_orchestrator(app, store) for app in apps}
        engine.install()
        worker = QueueWorker(store, engine, queue, built, concurrency, heartbeat_s, grace_s, _report)
        with stop_on_signal(worker.stop):
            _report(f"worker of {queue} on {store.where}, for {', '.join(apps)}, until SIGTERM or Ctrl-C")
            run_loop(worker.run)


def install_queue(db: str) -> None:
    """Creates the tables of the store and its queues, or brings them up to date.

    Raises:
        ConfigurationError: It is no PostgreSQL.
        StoreError: The database cannot be reached.
    """
    with open_engine(db, make=True) as (_, engine):
        engine.install()


def cancel_job(queue: JobQueue, thread_id: str) -> None:
    """Cancels the run of a job, and says so.

    Raises:
        ConfigurationError: No queue has a job of this run.
    """
    if not queue.cancel(thread_id):
        run = queue.store.history.find(thread_id)
        state = "no run of this name is stored" if run is None else f"the run is stored as {run.status}"
        raise ConfigurationError(
            f"--cancel {thread_id!r:.80} has no job in any queue ({state}); give the name of a run that is "
            "queued or being executed, as `orchestrator submit` printed it"
        )
    _report(f"cancelled: {thread_id}")


@contextmanager
def open_cases_queue(db: str | None, name: str, calls_per_second: float | None) -> Iterator[JobQueue]:
    """Opens the queue of a command that lets its workers execute cases.

    Raises:
        ConfigurationError: An option is missing, or cannot be used with a queue.
        StoreError: The database cannot be reached, or has no queue.
    """
    if db is None:
        raise ConfigurationError("--queue needs the database of the queue; give --db postgresql://...")
    if calls_per_second is not None:
        raise ConfigurationError(
            "--calls-per-second limits this process, and the workers call the models; leave it out, and "
            "start the workers with --limit"
        )
    with open_queue(db, name) as queue:
        yield queue


def queue_cases(queue: JobQueue, evaluation: str | None) -> QueuedCases:
    """Returns the cases of an evaluation, and says how it is continued; None for a new name."""
    name = evaluation or uuid.uuid4().hex[:8]
    _report(f"evaluation {name} in queue {queue.name}; --evaluation {name} continues it")
    return QueuedCases(queue, name)


def _report(line: str) -> None:
    typer.echo(one_line(line), err=True)
