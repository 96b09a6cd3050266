"""``orchestrator run``, ``resume`` and ``fork``: the commands that execute a run."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Annotated

import typer

from orchestrator.cli import options
from orchestrator.cli.run_options import OF_A_NEW_RUN, OF_A_PLAN, RunOptions, read_changes
from orchestrator.errors import ConfigurationError


def run(
    thread: options.NewThread,
    task: options.Task = None,
    *,
    db: options.Database = None,
    no_db: bool = False,
    contract: options.File[str | None] = None,
    json: options.Json = False,
    verbose: options.Verbose = False,
    **typed: Annotated[object, options.OptionsOf(RunOptions)],
) -> None:
    """Plan TASK, execute it step by step and judge every step.

    Exit status: 0 success, 1 failure, 2 bad input, 3 waiting for an answer, 130 interrupted by Ctrl-C.

    Args:
        no_db: Do not store the run.
        contract: Check the output against a file that `checks --save` wrote, instead of the checks that are
            derived from the task. The judge decides besides, as with these.
    """
    from orchestrator.cli.consoles import report_bad_input
    from orchestrator.cli.run_session import RunSession, read_policy
    from orchestrator.cli.stored_runs import open_store, refuse_used_thread
    from orchestrator.cli.task_files import read_contract, read_task
    from orchestrator.settings import check_thread_id

    with report_bad_input():
        text = read_task(task)
        check_thread_id(thread)
        chosen = RunOptions.model_validate(read_changes(typed))
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


def resume(
    thread: options.Thread = None,
    *,
    last: options.Last = False,
    approve: bool = False,
    correct: Annotated[str | None, typer.Option(metavar="TEXT")] = None,
    deny: options.Reason[str | None] = None,
    halt: options.Reason[str | None] = None,
    db: options.Database = None,
    json: options.Json = False,
    verbose: options.Verbose = False,
    **typed: Annotated[object, options.OptionsOf(RunOptions, OF_A_PLAN)],
) -> None:
    """Resume the run THREAD after a crash, answer its question, or judge it again if it could not be judged.

    Options you leave out keep their values from the original run, except --tools, which runs code: give it
    again. Exit status as for `run`.

    Args:
        approve: Accept the output, or let the tool run.
        correct: Execute the step again with these instructions, or say what a tool call returned that ran
            before a crash or an error.
        deny: Refuse: a tool does not run, or a step ends the run, for REASON.
        halt: At a tool call: end the run as failed for this reason.
    """
    from orchestrator.cli import consoles, run_session, stored_runs

    with consoles.report_bad_input():
        changes = read_changes(typed)
        answer = run_session.read_answer(approve=approve, correct=correct, deny=deny, halt=halt)
        with stored_runs.open_store(db) as store:
            name = stored_runs.find_thread(store, thread, last=last, resumable=True)
            chosen = stored_runs.restore_options(store, name, changes)
            run_session.RunSession(chosen, store, name, json, verbose).run(
                lambda orchestrator: orchestrator.astream_resumed(name, answer, accept_changes=bool(changes))
            )


def fork(
    step: options.Count[int],
    new: options.NewThread,
    thread: options.Thread = None,
    *,
    last: options.Last = False,
    db: options.Database = None,
    json: options.Json = False,
    verbose: options.Verbose = False,
    **typed: Annotated[object, options.OptionsOf(RunOptions, OF_A_NEW_RUN)],
) -> None:
    """Copy the run THREAD up to a step to a new run, and continue there. THREAD itself does not change.

    Options you leave out keep their values from the original run, except --tools, which runs code: give it
    again. Exit status as for `run`.

    Args:
        step: The first step to execute again, counted from 1 as `show` prints it.
    """
    from orchestrator.cli import consoles, run_session, stored_runs
    from orchestrator.settings import check_thread_id

    with consoles.report_bad_input():
        changes = read_changes(typed)
        check_thread_id(new)
        with stored_runs.open_store(db) as store:
            name = stored_runs.find_thread(store, thread, last=last)
            chosen = stored_runs.restore_options(store, name, changes)
            session = run_session.RunSession(chosen, store, new, json, verbose)
            # Users count steps from 1, as `show` does.
            session.run(lambda orchestrator: orchestrator.astream_forked(name, step - 1, new))
