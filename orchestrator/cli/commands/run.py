"""``orchestrator run``, ``resume`` and ``fork``."""

from __future__ import annotations

from typing import Annotated

import typer

from orchestrator.cli.options import AsJson, Database, NewThread, Thread, TypedOptions, accept_run_options

Task = Annotated[str, typer.Argument(help="What to do.", metavar="TASK", show_default=False)]
NoDatabase = Annotated[bool, typer.Option("--no-db", help="Do not store the run.")]
Contract = Annotated[
    str | None,
    typer.Option(help="Check the output against a file that `checks --save` wrote.", metavar="FILE"),
]
Approve = Annotated[bool, typer.Option("--approve", help="Accept the output.")]
Correct = Annotated[
    str | None, typer.Option(help="Execute the step again with these instructions.", metavar="TEXT")
]
Deny = Annotated[str | None, typer.Option(help="End the run as failed for this reason.", metavar="REASON")]
Step = Annotated[
    int,
    typer.Option(
        help="The first step to execute again, counted from 1 as `show` prints it.", metavar="N", min=1
    ),
]


@accept_run_options()
def run(
    task: Task,
    *,
    thread: NewThread,
    db: Database = None,
    no_db: NoDatabase = False,
    contract: Contract = None,
    json: AsJson = False,
    options: TypedOptions,
) -> None:
    """Plan TASK, execute it step by step and judge every step.

    Exit status: 0 success, 1 failure, 2 bad input, 3 waiting for an answer, 130 Ctrl-C before the start.
    """
    from orchestrator.cli.run import run_task  # noqa: PLC0415 - slow to import

    run_task(task, options, thread=thread, db=db, no_db=no_db, contract=contract, json=json)


@accept_run_options(
    only_changes=True, without=("supervise", "max_retries", "synthesis", "checks", "checks_model")
)
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


@accept_run_options(only_changes=True, without=("checks", "checks_model"))
def fork(
    thread: Thread,
    *,
    step: Step,
    new: NewThread,
    db: Database = None,
    json: AsJson = False,
    options: TypedOptions,
) -> None:
    """Copy the run THREAD up to a step to a new run, and continue there. THREAD itself does not change.

    Options you leave out keep their values from the original run. Exit status as for `run`.
    """
    from orchestrator.cli.run import fork_run  # noqa: PLC0415 - slow to import

    fork_run(thread, step, options, new=new, db=db, json=json)
