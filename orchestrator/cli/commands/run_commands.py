"""``orchestrator run``, ``resume`` and ``fork``: the commands that execute a run."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Annotated, Any

import typer

from orchestrator.cli import run_options as options
from orchestrator.cli import shared_options as shared
from orchestrator.errors import ConfigurationError

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
        help="The first step to execute again, counted from 1 as `show` prints it.", metavar="N", min=1
    ),
]


@options.add_run_options()
def run(
    thread: shared.NewThread,
    task: shared.Task = None,
    *,
    db: shared.Database = None,
    no_db: NoDatabase = False,
    contract: Contract = None,
    json: shared.Json = False,
    verbose: shared.Verbose = False,
    **typed: Any,  # noqa: ANN401 - of the fields of RunOptions
) -> None:
    """Plan TASK, execute it step by step and judge every step.

    Exit status: 0 success, 1 failure, 2 bad input, 3 waiting for an answer, 130 interrupted by Ctrl-C.
    """
    from orchestrator.cli.session.run_session import RunSession, read_policy
    from orchestrator.cli.session.stored_options import open_store, refuse_used_thread
    from orchestrator.cli.session.task_files import read_contract, read_task
    from orchestrator.cli.view.consoles import report_bad_input
    from orchestrator.settings import check_thread_id

    with report_bad_input():
        text = read_task(task)
        check_thread_id(thread)
        chosen = options.RunOptions.model_validate(options.select_typed(typed))
        read_policy(chosen)  # refused before a store is made
        if no_db and (db is not None or chosen.asks_person):
            raise ConfigurationError(
                "--no-db contradicts --db, and cannot store a question of --supervise human or "
                "--acting-tools NAME:approve; leave one of them out"
            )
        case = None if contract is None else read_contract(contract, text, derives=chosen.checks)
        with nullcontext() if no_db else open_store(db, chosen) as store:
            if store is not None:
                refuse_used_thread(store, thread)
            session = RunSession(chosen, store, thread, json, verbose)
            session.run(lambda orchestrator: orchestrator.astream(text, thread), case)


@options.add_run_options(without=options.OF_A_PLAN)
def resume(
    thread: shared.Thread = None,
    *,
    last: shared.Last = False,
    approve: Approve = False,
    correct: Correct = None,
    deny: Deny = None,
    halt: Halt = None,
    db: shared.Database = None,
    json: shared.Json = False,
    verbose: shared.Verbose = False,
    **typed: Any,  # noqa: ANN401 - of the fields of RunOptions
) -> None:
    """Resume the run THREAD after a crash, answer its question, or judge it again if it could not be judged.

    Options you leave out keep their values from the original run, except --tools, which runs code: give it
    again. Exit status as for `run`.
    """
    from orchestrator.cli.session.run_session import RunSession
    from orchestrator.cli.session.stored_options import find_thread, open_store, restore_options
    from orchestrator.cli.view.consoles import report_bad_input
    from orchestrator.cli.view.person import read_answer

    with report_bad_input():
        changes = options.select_typed(typed)
        answer = read_answer(approve=approve, correct=correct, deny=deny, halt=halt)
        with open_store(db) as store:
            name = find_thread(store, thread, last=last, resumable=True)
            session = RunSession(restore_options(store, name, changes), store, name, json, verbose)
            session.run(
                lambda orchestrator: orchestrator.astream_resumed(name, answer, accept_changes=bool(changes))
            )


@options.add_run_options(without=options.OF_A_NEW_RUN)
def fork(
    step: Step,
    new: shared.NewThread,
    thread: shared.Thread = None,
    *,
    last: shared.Last = False,
    db: shared.Database = None,
    json: shared.Json = False,
    verbose: shared.Verbose = False,
    **typed: Any,  # noqa: ANN401 - of the fields of RunOptions
) -> None:
    """Copy the run THREAD up to a step to a new run, and continue there. THREAD itself does not change.

    Options you leave out keep their values from the original run, except --tools, which runs code: give it
    again. Exit status as for `run`.
    """
    from orchestrator.cli.session.run_session import RunSession
    from orchestrator.cli.session.stored_options import find_thread, open_store, restore_options
    from orchestrator.cli.view.consoles import report_bad_input
    from orchestrator.settings import check_thread_id

    with report_bad_input():
        changes = options.select_typed(typed)
        check_thread_id(new)
        with open_store(db) as store:
            name = find_thread(store, thread, last=last)
            session = RunSession(restore_options(store, name, changes), store, new, json, verbose)
            # Users count steps from 1, as `show` does.
            session.run(lambda orchestrator: orchestrator.astream_forked(name, step - 1, new))
