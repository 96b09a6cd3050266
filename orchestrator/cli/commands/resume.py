"""``orchestrator resume``."""

from __future__ import annotations

from typing import Annotated

import typer

from orchestrator.cli.options import AsJson, Database, Thread, TypedOptions, accept_run_options

Approve = Annotated[bool, typer.Option("--approve", help="Accept the output.")]
Correct = Annotated[
    str | None, typer.Option(help="Execute the step again with these instructions.", metavar="TEXT")
]
Deny = Annotated[str | None, typer.Option(help="End the run as failed for this reason.", metavar="REASON")]


@accept_run_options(only_changes=True, without=("supervise", "max_retries"))
def resume(
    thread: Thread,
    *,
    approve: Approve = False,
    correct: Correct = None,
    deny: Deny = None,
    db: Database = None,
    json: AsJson = False,
    options: TypedOptions,
) -> None:
    """Resume the run THREAD after a crash, or answer its question.

    Options you leave out keep their values from the original run. Exit status as for `run`.
    """
    from orchestrator.cli.run import resume_run  # noqa: PLC0415 - slow to import

    resume_run(thread, options, approve=approve, correct=correct, deny=deny, db=db, json=json)
