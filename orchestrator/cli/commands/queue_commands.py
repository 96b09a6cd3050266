"""``orchestrator submit``, ``worker`` and ``queue``: runs on more than one machine."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import typer

from agents.sync import run_loop
from orchestrator.cli import consoles, options
from orchestrator.cli.process_exit import stop_on_signal
from orchestrator.cli.task_files import read_task
from orchestrator.errors import ConfigurationError, StoreError
from orchestrator.queue import open_queue
from orchestrator.queue.job_queue import Submission, check_queue_name, import_orchestrator
from orchestrator.queue.queue_status import QueueStatus
from orchestrator.queue.queue_worker import QueueWorker


def _report(line: str) -> None:
    typer.echo(consoles.one_line(line), err=True)


def describe_submission(submitted: Submission, status: QueueStatus) -> str:
    """Says what became of a task, and how full its queue is."""
    jobs = [job for job in status.jobs if job.queue == submitted.queue]
    waiting, running = sum(job.waiting for job in jobs), sum(job.running for job in jobs)
    workers = sum(worker.is_alive for worker in status.workers if worker.queue == submitted.queue)
    return (
        f"{submitted.status}: {consoles.one_line(submitted.thread_id)} in {submitted.queue} "
        f"({waiting} waiting, {running} running, {workers} workers)"
    )


def _list_lines(status: QueueStatus) -> Iterator[str]:
    for job in status.jobs:
        counts = f"{job.waiting} waiting, {job.running} running, {job.delayed} delayed, {job.failed} failed"
        lack = "" if job.workers else "; no live worker takes them"
        yield f"{job.queue}  {job.app}: {counts}{lack}"
    if not status.jobs:
        yield "no job is queued"
    for worker in status.workers:
        life = "alive" if worker.is_alive else "no sign of life"
        yield (
            f"worker {worker.host} {worker.process} of {worker.queue} ({worker.version}): {life}, "
            f"last seen {worker.seen:%Y-%m-%d %H:%M:%S %Z}"
        )
    for failure in status.failed:
        yield f"failed {failure.thread_id}: {failure.reason}"


def submit(
    app: Annotated[str, typer.Option(metavar="MODULE:FUNCTION")],
    thread: options.NewThread,
    db: options.QueueDatabase = None,
    task: options.Task = None,
    *,
    queue: options.Name[str] = "default",
    json: options.Json = False,
) -> None:
    """Queue a run of TASK for workers on any machine, and print what is queued.

    The same --thread is queued once. Exit status: 0 queued, or there already; 2 bad input, nothing queued.

    Args:
        app: Function that takes the store and returns the orchestrator.
        queue: Name of the queue.
    """
    with consoles.report_bad_input():
        text = read_task(task)
        with open_queue(db, queue) as opened:
            submitted = opened.submit(text, app=app, thread_id=thread)
            status = opened.read_status()
    if json:
        consoles.print_json(submitted)
    else:
        typer.echo(describe_submission(submitted, status))


def worker(
    db: options.QueueDatabase = None,
    app: Annotated[list[str] | None, typer.Option(metavar="MODULE:FUNCTION")] = None,
    *,
    queue: options.Name[str] = "default",
    concurrency: Annotated[int, typer.Option(metavar="N", min=1, max=1000)] = 10,
    heartbeat: Annotated[float, typer.Option(metavar="SECONDS", min=1, max=3600)] = 10,
    grace: Annotated[float, typer.Option(metavar="SECONDS", min=0, max=86_400)] = 20,
) -> None:
    """Execute the runs of a queue until SIGTERM or Ctrl-C, and resume those of workers that died.

    Creates missing tables, and brings them up to date. Exit status: 0 stopped, 1 the database cannot be
    reached or was lost (start the worker again), 2 bad input.

    Args:
        app: Function that takes the store and returns an orchestrator (repeatable). Jobs that need another
            one are left.
        queue: Name of the queue.
        concurrency: Runs at once.
        heartbeat: Take over the runs of a worker that gives no sign of life for this time; the same for all
            workers of a queue.
        grace: After SIGTERM or Ctrl-C, let the runs go on for this time; others resume those that have not
            ended.
    """
    with consoles.report_bad_input(StoreError), consoles.print_logs_on(consoles.build_console(stderr=True)):
        check_queue_name(queue)
        if not app:
            raise ConfigurationError("a worker needs what it executes; give --app MODULE:FUNCTION")
        with open_queue(db, queue) as opened:
            store, apps = opened.store, ", ".join(app)
            built = {each: import_orchestrator(each, store) for each in app}
            job_worker = QueueWorker(opened, built, concurrency, heartbeat, grace, _report)
            with stop_on_signal(job_worker.stop):
                _report(f"worker of {queue} on {store.where}, for {apps}, until SIGTERM or Ctrl-C")
                run_loop(job_worker.run)


def queue(
    db: options.QueueDatabase = None,
    *,
    cancel: Annotated[str | None, typer.Option(metavar="ID")] = None,
    json: options.Json = False,
) -> None:
    """Show the jobs of all queues of a database, and its workers with their last sign of life.

    Args:
        cancel: End this run for good, whether it waits or a worker executes it.
    """
    with consoles.report_bad_input(), open_queue(db) as opened:
        if cancel is not None and not opened.cancel(cancel):
            raise ConfigurationError(
                f"--cancel {cancel!r:.80} has no job in any queue; give the name of a run that is queued "
                "or being executed"
            )
        if cancel is not None:
            _report(f"cancelled: {cancel}")
        status = opened.read_status()
    if json:
        consoles.print_json(status)
    else:
        for line in _list_lines(status):
            typer.echo(consoles.one_line(line))
