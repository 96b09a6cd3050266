"""``orchestrator run``, ``resume`` and ``fork``."""

from __future__ import annotations

from typing import Annotated

import typer

from orchestrator.cli.arguments.options import TypedOptions, accept_run_options
from orchestrator.cli.arguments.parameters import (
    Answers,
    AsJson,
    Database,
    Display,
    InFull,
    NewThread,
    Task,
    TaskFile,
    ThreadOrLast,
    Verbose,
    check_thread_choice,
)
from orchestrator.cli.arguments.values import count_parser
from orchestrator.cli.process.opening import announce

NoDatabase = Annotated[bool, typer.Option("--no-db", help="Do not store the run.")]
Contract = Annotated[
    str | None,
    typer.Option(
        help="Check the output against a file that `checks --save` wrote, instead of the checks that are "
        "derived from the task. The judge decides besides, as with these.",
        metavar="FILE",
    ),
]
Approve = Annotated[bool, typer.Option("--approve", help="Accept the output, or let the tool run.")]
Correct = Annotated[
    str | None,
    typer.Option(
        help="Execute the step again with these instructions, or say what a tool call returned that ran "
        "before a crash or an error.",
        metavar="TEXT",
    ),
]
Deny = Annotated[
    str | None,
    typer.Option(help="Refuse: a tool does not run, or a step ends the run, for REASON.", metavar="REASON"),
]
Halt = Annotated[
    str | None, typer.Option(help="At a tool call: end the run as failed for this reason.", metavar="REASON")
]
Step = Annotated[
    int,
    typer.Option(
        help="The first step to execute again, counted from 1 as `show` prints it.",
        metavar="N",
        parser=count_parser(1),
    ),
]
LastOpen = Annotated[
    bool, typer.Option("--last", help="Resume the latest run that was interrupted or waits for an answer.")
]
Last = Annotated[bool, typer.Option("--last", help="Fork the run that was stored last.")]


@accept_run_options()
def run(
    task: Task = None,
    *,
    task_file: TaskFile = None,
    thread: NewThread,
    db: Database = None,
    no_db: NoDatabase = False,
    contract: Contract = None,
    json: AsJson = False,
    full: InFull = False,
    verbose: Verbose = False,
    options: TypedOptions,
) -> None:
    """Plan TASK, execute it step by step and judge every step.

    Exit status: 0 success, 1 failure, 2 bad input, 3 waiting for an answer, 130 interrupted by Ctrl-C.
    """
    with announce("starting ..."):
        from orchestrator.cli.run import run_task  # noqa: PLC0415 - slow to import

    run_task(
        task,
        options,
        task_file=task_file,
        thread=thread,
        db=db,
        no_db=no_db,
        contract=contract,
        display=Display(json, full, verbose),
    )


@accept_run_options(
    only_changes=True,
    without=(
        "supervise",
        "approve_tools",
        "once_tools",
        "max_retries",
        "retry_policy",
        "synthesis",
        "checks",
        "checks_model",
    ),
)
def resume(
    thread: ThreadOrLast = None,
    *,
    last: LastOpen = False,
    approve: Approve = False,
    correct: Correct = None,
    deny: Deny = None,
    halt: Halt = None,
    db: Database = None,
    json: AsJson = False,
    full: InFull = False,
    verbose: Verbose = False,
    options: TypedOptions,
) -> None:
    """Resume the run THREAD after a crash, or answer its question.

    Options you leave out keep their values from the original run, except --tools, which runs code: give it
    again. Exit status as for `run`.
    """
    check_thread_choice(thread, last=last)
    with announce("starting ..."):
        from orchestrator.cli.run import resume_run  # noqa: PLC0415 - slow to import

    display = Display(json, full, verbose)
    answer = Answers(approve, correct, deny, halt)
    resume_run(thread, options, answer, db=db, display=display)


@accept_run_options(only_changes=True, without=("checks", "checks_model"))
def fork(
    thread: ThreadOrLast = None,
    *,
    last: Last = False,
    step: Step,
    new: NewThread,
    db: Database = None,
    json: AsJson = False,
    full: InFull = False,
    verbose: Verbose = False,
    options: TypedOptions,
) -> None:
    """Copy the run THREAD up to a step to a new run, and continue there. THREAD itself does not change.

    Options you leave out keep their values from the original run, except --tools, which runs code: give it
    again. Exit status as for `run`.
    """
    check_thread_choice(thread, last=last)
    with announce("starting ..."):
        from orchestrator.cli.run import fork_run  # noqa: PLC0415 - slow to import

    fork_run(thread, step, options, new=new, db=db, display=Display(json, full, verbose))
