"""``orchestrator run``, ``resume`` and ``fork``: the commands that execute a run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from orchestrator.cli import options
from orchestrator.cli.run_options import OF_A_NEW_RUN, OF_A_PLAN, RunOptions, read_changes
from orchestrator.errors import ConfigurationError

if TYPE_CHECKING:
    from orchestrator.cli.option_runs import OptionRuns  # LangGraph is slow to import


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
    from orchestrator.cli import option_runs, run_session, task_files
    from orchestrator.cli.consoles import report_bad_input
    from orchestrator.persistence import open_store
    from orchestrator.service.executions import Execution, NewRun
    from orchestrator.service.run_service import check_unused
    from orchestrator.settings import check_thread_id

    with report_bad_input():
        text = task_files.read_task(task)
        check_thread_id(thread)
        chosen = RunOptions.model_validate(read_changes(typed))
        option_runs.read_policy(chosen)  # refused before a store is made
        task_files.import_tools(chosen.tools)
        if no_db and (db is not None or chosen.asks_person):
            raise ConfigurationError(
                "--no-db contradicts --db, and cannot store a question of --supervise human or "
                "--acting-tools NAME:approve; leave one of them out"
            )
        case = None if contract is None else task_files.read_contract(contract, text, derives=chosen.checks)
        with nullcontext() if no_db else open_store(db) as store:
            if store is not None:
                check_unused(store.history, thread)
            runs = option_runs.OptionRuns(store, db, chosen, case=case)
            execution = Execution.of_new(runs, NewRun(task=text, thread_id=thread), thread)
            run_session.RunSession(runs, thread, json, verbose).run(execution)


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
    from orchestrator.cli.consoles import report_bad_input
    from orchestrator.cli.run_session import RunSession, read_answer
    from orchestrator.service.executions import Execution

    with report_bad_input():
        answer = read_answer(approve=approve, correct=correct, deny=deny, halt=halt)
        with _open_stored(db, thread, typed, last=last, resumable=True) as (runs, name):
            execution = Execution.of_stored(runs, name, answer, accept_changes=bool(runs.changes))
            RunSession(runs, name, json, verbose).run(execution)


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
    from orchestrator.cli.consoles import report_bad_input
    from orchestrator.cli.run_session import RunSession
    from orchestrator.service.executions import Execution
    from orchestrator.settings import check_thread_id

    with report_bad_input():
        check_thread_id(new)
        with _open_stored(db, thread, typed, last=last) as (runs, name):
            # Users count steps from 1, as `show` does.
            execution = Execution.of_fork(runs, name, step - 1, new)
            RunSession(runs, new, json, verbose).run(execution)


@contextmanager
def _open_stored(
    db: str | None,
    thread: str | None,
    typed: Mapping[str, object],
    *,
    last: bool,
    resumable: bool = False,
) -> Iterator[tuple[OptionRuns, str]]:
    """Yields a run's name, and what builds its orchestrators with its options and the typed changes."""
    from orchestrator.cli.option_runs import OptionRuns
    from orchestrator.cli.stored_runs import find_thread, open_store

    changes = read_changes(typed)
    with open_store(db) as store:
        name = find_thread(store, thread, last=last, resumable=resumable)
        runs = OptionRuns(store, db, RunOptions.model_validate(changes), changes)
        yield replace(runs, options=runs.read_options(name)), name
