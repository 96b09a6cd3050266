"""``orchestrator submit``, ``worker`` and ``queue``: runs on more than one machine."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, Final

import typer

from orchestrator.cli import shared_options as shared

_LONGEST_DELAY: Final = timedelta(days=366)
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
Studies = Annotated[
    list[str] | None,
    typer.Option("--tune", help="Take the runs of `tune SPEC --queue`, too (repeatable).", metavar="SPEC"),
]
Priority = Annotated[int, typer.Option(help="Greater ones are taken first.", metavar="N")]


def _check_delay(delay: timedelta | None) -> timedelta | None:
    if delay is not None and delay > _LONGEST_DELAY:
        raise typer.BadParameter(f"a delay of {delay.days} days is not accepted; give at most 366d")
    return delay


After = Annotated[
    timedelta | None,
    typer.Option(
        help="Delay the start, such as 90s or 12h.",
        metavar="AGE",
        parser=shared.parse_age,
        callback=_check_delay,
    ),
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
    from orchestrator.cli.session.task_files import read_task
    from orchestrator.cli.view.consoles import print_json, report_bad_input
    from orchestrator.cli.view.queue_table import describe_submission
    from orchestrator.queue import open_queue

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
    tune: Studies = None,
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
    from orchestrator.cli.session.queue_session import run_worker
    from orchestrator.cli.view.consoles import build_console, print_logs_on, report_bad_input
    from orchestrator.errors import StoreError

    with report_bad_input(StoreError), print_logs_on(build_console(stderr=True)):
        run_worker(db, queue, app, tune, limit, concurrency=concurrency, heartbeat_s=heartbeat, grace_s=grace)


def queue(
    db: shared.QueueDatabase = None,
    *,
    cancel: Cancel = None,
    install: Install = False,
    json: shared.Json = False,
) -> None:
    """Show the jobs of all queues of a database, and its workers with their last sign of life."""
    from orchestrator.cli.session.queue_session import cancel_job, install_queue
    from orchestrator.cli.view.consoles import build_console, print_json, report_bad_input
    from orchestrator.cli.view.queue_table import draw_status
    from orchestrator.queue import open_queue

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
