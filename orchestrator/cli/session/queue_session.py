"""Runs a worker of a queue, creates its tables, and lets its workers execute the cases of an evaluation."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import typer

from agents.sync import run_loop
from orchestrator.cli.evaluate_options import EvaluateOptions
from orchestrator.cli.process_exit import stop_on_signal
from orchestrator.cli.view.consoles import one_line
from orchestrator.errors import ConfigurationError
from orchestrator.experiments.case_runs import Job
from orchestrator.limits import share_limits
from orchestrator.persistence import open_store
from orchestrator.queue import JobQueue, open_queue
from orchestrator.queue.job_queue import check_queue_name, open_engine
from orchestrator.queue.queue_apps import import_orchestrator
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
    check_queue_name(queue)
    with open_store(db) as store, share_limits(store, limits):
        engine = open_engine(store, db)
        engine.install()
        built = {app: import_orchestrator(app, store) for app in apps}
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
    with open_store(db) as store:
        open_engine(store, db).install()


@contextmanager
def open_cases_queue(options: EvaluateOptions) -> Iterator[JobQueue]:
    """Opens the queue of a command.

    Raises:
        ConfigurationError: An option is missing, or cannot be used with a queue.
        StoreError: The database cannot be reached, or has no queue.
    """
    if options.db is None or options.queue is None:
        raise ConfigurationError("--queue needs the database of the queue; give --db postgresql://...")
    if options.calls_per_second is not None:
        raise ConfigurationError(
            "--calls-per-second limits this process, and the workers call the models; leave it out, and "
            "start the workers with --limit"
        )
    with open_queue(options.db, options.queue) as queue:
        yield queue


def queue_cases(
    queue: JobQueue, options: EvaluateOptions, target: str | None
) -> Callable[[Sequence[Job]], Iterator[Job]]:
    """Returns what queues cases, and yields each with its run when it has ended.

    Raises:
        ConfigurationError: No target is given.
    """
    if target is None:
        raise ConfigurationError("--queue needs what the workers execute; give --target MODULE:FUNCTION")
    name = options.evaluation or uuid.uuid4().hex[:8]
    typer.echo(f"evaluation {name} in queue {queue.name}; --evaluation {name} continues it", err=True)
    return QueuedCases(queue, target, name).execute


def _report(line: str) -> None:
    typer.echo(one_line(line), err=True)
