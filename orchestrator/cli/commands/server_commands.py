"""``orchestrator serve``, and ``submit`` and ``worker``."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from functools import partial
from typing import Annotated

import typer

from agents.sync import run_loop
from orchestrator.cli import consoles, options
from orchestrator.cli.consoles import build_console, print_logs_on
from orchestrator.cli.process_exit import stop_on_signal
from orchestrator.cli.run_options import OptionRuns, RunOptions
from orchestrator.errors import StoreError, StoreLostError, require_extra
from orchestrator.persistence import open_store


def serve(
    chosen: RunOptions,
    *,
    db: options.Database = None,
    host: Annotated[str, typer.Option(metavar="ADDRESS")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535)] = 8321,
    token: Annotated[str | None, typer.Option(envvar="PEM_SERVE_TOKEN", metavar="TEXT")] = None,
    read_only: bool = False,
    allow_host: options.Name[list[str] | None] = None,
) -> None:
    """Show the runs in a browser, answer their questions there, and start runs.

    The options of a run hold for the runs that are started from the page. Ctrl-C interrupts the runs;
    they can be resumed.

    Args:
        host: Listen on this address.
        port: Listen on this port; 0 for any free one.
        token: The token that a client has to send, at least 16 characters; needed unless only this machine
            can reach the address.
        read_only: Refuse every change.
        allow_host: A further name by which clients reach the server (repeatable).
    """
    with print_logs_on(build_console(stderr=True)):
        with require_extra("serve"):
            from orchestrator.serving.web_app import ServerOptions, run_server
        chosen.check()
        hosts = (*(allow_host or ()),)
        reach = ServerOptions(host=host, token=token, read_only=read_only, allowed_hosts=hosts)
        with open_store(db, make=not read_only) as store:
            run_server(store, OptionRuns(store, db, chosen), reach, port, partial(typer.echo, err=True))


def _report(line: str) -> None:
    typer.echo(consoles.one_line(line), err=True)


def submit(
    app: Annotated[str, typer.Option(metavar="MODULE:FUNCTION")],
    thread: options.NewThread,
    task: options.Task,
    db: options.Url = None,
    *,
    queue: options.Name[str] = "default",
    json: options.Json = False,
) -> None:
    """Queue a run of TASK for workers on any machine, and print its entry in the queue.

    The same --thread is queued once. Exit status: 0 queued, or there already; 2 bad input, nothing queued.

    Args:
        app: Function that takes the store and returns the orchestrator.
        db: PostgreSQL URL of the queue, which stores the runs. Default: the variable PEM_QUEUE_DB.
        queue: Name of the queue.
    """
    with require_extra("postgres"):
        from orchestrator.queue import open_queue
    with open_queue([app], db, queue) as opened:
        submitted = opened.submit(task, thread)
    if json:
        consoles.print_json(submitted)
    else:
        typer.echo(f"{submitted.status}: {consoles.one_line(submitted.thread_id)} in {submitted.queue}")


def _cancel(working: asyncio.Future[None]) -> None:
    # A plain handler of a signal does not wake the loop.
    working.get_loop().call_soon_threadsafe(working.cancel)


def worker(
    app: Annotated[list[str], typer.Option(metavar="MODULE:FUNCTION")],
    db: options.Url = None,
    *,
    queue: options.Name[str] = "default",
    concurrency: Annotated[int, typer.Option(metavar="N", min=1, max=1000)] = 10,
    grace: Annotated[float, typer.Option(metavar="SECONDS", min=0, max=86_400)] = 20,
) -> None:
    """Execute the runs of a queue until SIGTERM or Ctrl-C, and resume the runs of dead workers.

    Creates missing tables, and brings them up to date. Exit status: 0 stopped, 1 the database cannot be
    reached or was lost (start the worker again), 2 bad input.

    Args:
        app: Function that takes the store and returns an orchestrator (repeatable). Jobs that need another
            one wait for a worker that has it.
        db: PostgreSQL URL of the queue, which stores the runs. Default: the variable PEM_QUEUE_DB.
        queue: Name of the queue.
        concurrency: Runs at once.
        grace: After SIGTERM or Ctrl-C, let the runs go on for this time; others resume those that have not
            ended.
    """
    with print_logs_on(build_console(stderr=True)):
        with require_extra("postgres"):
            from orchestrator.queue import RunQueue, open_queue

        async def work(opened: RunQueue) -> None:
            place = f"{queue} on {opened.store.where}, for {', '.join(app)}"
            _report(f"worker of {place}, until SIGTERM or Ctrl-C")
            working = asyncio.ensure_future(opened.work(_report, concurrency, grace))
            with stop_on_signal(partial(_cancel, working)), suppress(asyncio.CancelledError):
                await working

        try:
            with open_queue(app, db, queue) as opened:
                run_loop(partial(work, opened))
        except StoreError as error:  # the database may come back
            raise StoreLostError(str(error)) from None
