"""``orchestrator run``."""

from __future__ import annotations

from typing import Annotated

import typer

from orchestrator.cli.options import AsJson, Database, NewThread, TypedOptions, accept_run_options

Task = Annotated[str, typer.Argument(help="What to do.", metavar="TASK", show_default=False)]
NoDatabase = Annotated[bool, typer.Option("--no-db", help="Do not store the run.")]


@accept_run_options()
def run(
    task: Task,
    *,
    thread: NewThread = None,
    db: Database = None,
    no_db: NoDatabase = False,
    json: AsJson = False,
    options: TypedOptions,
) -> None:
    """Plan TASK, execute it step by step and judge every step.

    Exit status: 0 success, 1 failure, 2 bad input, 3 waiting for an answer, 130 Ctrl-C before the start.
    """
    from orchestrator.cli.run import run_task  # noqa: PLC0415 - slow to import

    run_task(task, options, thread=thread, db=db, no_db=no_db, json=json)
