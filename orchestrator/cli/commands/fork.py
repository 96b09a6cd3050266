"""``orchestrator fork``."""

from __future__ import annotations

from typing import Annotated

import typer

from orchestrator.cli.options import (
    AsJson,
    Database,
    NewThread,
    Thread,
    TypedOptions,
    accept_run_options,
)

Step = Annotated[
    int,
    typer.Option(help="Number of the first step to execute again, as `show` prints it.", metavar="N", min=1),
]


@accept_run_options(only_changes=True)
def fork(
    thread: Thread,
    *,
    step: Step,
    new: NewThread = None,
    db: Database = None,
    json: AsJson = False,
    options: TypedOptions,
) -> None:
    """Copy the run THREAD up to a step to a new run, and continue there. THREAD itself does not change.

    Options you leave out keep their values from the original run. Exit status as for `run`.
    """
    from orchestrator.cli.run import fork_run  # noqa: PLC0415 - slow to import

    fork_run(thread, step, options, new=new, db=db, json=json)
