"""Runs a worker of a queue until a signal ends it, and creates the tables of a queue."""

from __future__ import annotations

from collections.abc import Sequence

import typer

from agents.sync import run_loop
from orchestrator.cli.process_exit import stop_on_signal
from orchestrator.cli.view.consoles import one_line
from orchestrator.limits import share_limits
from orchestrator.persistence import open_store
from orchestrator.queue.job_queue import check_queue_name, open_engine
from orchestrator.queue.queue_apps import import_orchestrator
from orchestrator.queue.queue_worker import QueueWorker


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


def _report(line: str) -> None:
    typer.echo(one_line(line), err=True)
