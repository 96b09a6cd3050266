"""``orchestrator submit``, ``worker`` and ``queue``: runs on more than one machine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Annotated

import typer
from rich.text import Text

from agents.sync import run_loop
from orchestrator.cli import shared_options as shared
from orchestrator.cli.process_exit import stop_on_signal
from orchestrator.cli.session.task_files import read_task
from orchestrator.cli.view.consoles import (
    build_console,
    one_line,
    print_json,
    print_logs_on,
    report_bad_input,
)
from orchestrator.errors import ConfigurationError, StoreError
from orchestrator.limits import read_limits, share_limits
from orchestrator.queue import JobQueue, open_queue
from orchestrator.queue.job_queue import Submission, check_queue_name, import_orchestrator, open_engine
from orchestrator.queue.queue_status import QueueStatus
from orchestrator.queue.queue_worker import QueueWorker


def run_worker(
    db: str | None,
    queue: str,
    apps: Sequence[str] | None,
    limits: Sequence[str] | None = None,
    *,
    concurrency: int,
    heartbeat_s: float,
    grace_s: float,
) -> None:
    """Executes the jobs of a queue.

    The other arguments are those of ``QueueWorker`` and ``share_limits``.

    Raises:
        ConfigurationError: An argument is not accepted.
        ModelSpecError: A limit is not accepted.
        StoreError: The database cannot be reached.
        StoreLostError: The connection was lost.
    """
    check_queue_name(queue)
    read = read_limits(limits or ())
    if not apps:
        raise ConfigurationError("a worker needs what it executes; give --app MODULE:FUNCTION")
    with open_engine(db) as (store, engine):
        built = {app: import_orchestrator(app, store) for app in apps}
        engine.install()  # after everything is built: bad input leaves no tables
        worker = QueueWorker(store, engine, queue, built, concurrency, heartbeat_s, grace_s, _report)
        with share_limits(store, read), stop_on_signal(worker.stop):
            _report(f"worker of {queue} on {store.where}, for {', '.join(built)}, until SIGTERM or Ctrl-C")
            run_loop(worker.run)


def install_queue(db: str | None) -> None:
    """Creates the tables of the store and its queues, or brings them up to date.

    Raises:
        ConfigurationError: It is no PostgreSQL.
        StoreError: The database cannot be reached.
    """
    with open_engine(db) as (_, engine):
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
            "queued or being executed"
        )
    _report(f"cancelled: {thread_id}")


def _report(line: str) -> None:
    typer.echo(one_line(line), err=True)


def describe_submission(submitted: Submission, status: QueueStatus) -> str:
    """Says what became of a task, and how full its queue is."""
    jobs = [job for job in status.jobs if job.queue == submitted.queue]
    waiting, running = sum(job.waiting for job in jobs), sum(job.running for job in jobs)
    workers = sum(worker.is_alive for worker in status.workers if worker.queue == submitted.queue)
    return (
        f"{submitted.status}: {one_line(submitted.thread_id)} in {submitted.queue} "
        f"({waiting} waiting, {running} running, {workers} workers)"
    )


def draw_status(status: QueueStatus) -> Text:
    """Draws the jobs of all queues, their workers, and the failed jobs."""
    return Text("\n").join(Text(one_line(line)) for line in _list_lines(status))


def _list_lines(status: QueueStatus) -> Iterator[str]:
    for job in status.jobs:
        counts = f"{job.waiting} waiting, {job.running} running, {job.delayed} delayed, {job.failed} failed"
        lack = "" if job.workers else "; no live worker takes them"
        yield f"{job.queue}  {job.kind} {job.app}: {counts}{lack}"
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


Name = Annotated[str, typer.Option("--queue", help="Name of the queue.", metavar="NAME")]
App = Annotated[
    str,
    typer.Option(
        help="Function that takes the store and returns the orchestrator.", metavar="MODULE:FUNCTION"
    ),
]
Apps = Annotated[
    list[str] | None,
    typer.Option(
        "--app",
        help="Function that takes the store and returns an orchestrator (repeatable). Jobs that need another "
        "one are left.",
        metavar="MODULE:FUNCTION",
    ),
]
Priority = Annotated[int, typer.Option(help="Greater ones are taken first.", metavar="N")]


After = Annotated[
    timedelta | None,
    typer.Option(help="Delay the start, such as 90s or 12h.", metavar="AGE", parser=shared.parse_age),
]
Concurrency = Annotated[int, typer.Option(help="Runs at once.", metavar="N", min=1, max=1000)]
Heartbeat = Annotated[
    float,
    typer.Option(
        help="Take over the runs of a worker that gives no sign of life for this time; the same for all "
        "workers of a queue.",
        metavar="SECONDS",
        min=1,
        max=3600,
    ),
]
Grace = Annotated[
    float,
    typer.Option(
        help="After SIGTERM or Ctrl-C, let the runs go on for this time; others resume those that have not "
        "ended.",
        metavar="SECONDS",
        min=0,
        max=86_400,
    ),
]
Limits = Annotated[
    list[str] | None,
    typer.Option(
        "--limit",
        help="Greatest rate of calls of a model, for all workers of the database together, such as "
        "ollama:qwen3=20/s or openai:*=500/min (repeatable).",
        metavar="ENDPOINT:MODEL=N/UNIT",
    ),
]
Cancel = Annotated[
    str | None,
    typer.Option(help="End this run for good, whether it waits or a worker executes it.", metavar="ID"),
]
Install = Annotated[
    bool, typer.Option("--install", help="Create the tables, or bring them up to date with this version.")
]


def submit(
    app: App,
    thread: shared.NewThread,
    db: shared.QueueDatabase = None,
    task: shared.Task = None,
    *,
    queue: Name = "default",
    priority: Priority = 0,
    after: After = None,
    json: shared.Json = False,
) -> None:
    """Queue a run of TASK for workers on any machine, and print what is queued.

    The same --thread is queued once. Exit status: 0 queued, or there already; 2 bad input, nothing queued.
    """
    with report_bad_input():
        text = read_task(task)
        delay_s = 0.0 if after is None else after.total_seconds()
        with open_queue(db, queue) as opened:
            submitted = opened.submit(text, app=app, thread_id=thread, priority=priority, after_s=delay_s)
            status = opened.read_status()
    if json:
        print_json(submitted)
    else:
        typer.echo(describe_submission(submitted, status))


def worker(
    db: shared.QueueDatabase = None,
    app: Apps = None,
    *,
    queue: Name = "default",
    concurrency: Concurrency = 10,
    heartbeat: Heartbeat = 10,
    grace: Grace = 20,
    limit: Limits = None,
) -> None:
    """Execute the runs of a queue until SIGTERM or Ctrl-C, and resume those of workers that died.

    Creates missing tables, and brings them up to date. Exit status: 0 stopped, 1 the database cannot be
    reached or was lost (start the worker again), 2 bad input.
    """
    with report_bad_input(StoreError), print_logs_on(build_console(stderr=True)):
        run_worker(db, queue, app, limit, concurrency=concurrency, heartbeat_s=heartbeat, grace_s=grace)


def queue(
    db: shared.QueueDatabase = None,
    *,
    cancel: Cancel = None,
    install: Install = False,
    json: shared.Json = False,
) -> None:
    """Show the jobs of all queues of a database, and its workers with their last sign of life."""
    with report_bad_input():
        if install:
            install_queue(db)
        with open_queue(db) as opened:
            if cancel is not None:
                cancel_job(opened, cancel)
            status = opened.read_status()
    if json:
        print_json(status)
    else:
        build_console().print(draw_status(status))
