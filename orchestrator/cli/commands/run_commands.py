"""``orchestrator run``, ``resume`` and ``fork``: the commands that execute a run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final

import typer

from evaluation import TaskCase, read_case_set
from orchestrator.cli import options
from orchestrator.cli.run_options import OptionRuns, RunOptions, open_store
from orchestrator.cli.run_session import RunSession, read_answer
from orchestrator.errors import ConfigurationError
from orchestrator.persistence import open_store as open_or_make_store
from orchestrator.service.executions import Execution, NewRun
from orchestrator.service.run_service import check_unused
from orchestrator.settings import check_thread_id

OF_A_PLAN: Final = (
    *("checks", "planning", "grounding", "supervise", "acting_tools"),
    *("max_retries", "retry_policy", "synthesis"),
)
"""The options that cannot change while a step is under way; only a new run has checks."""


def run(
    thread: options.NewThread,
    task: options.Task,
    chosen: RunOptions,
    *,
    db: options.Database = None,
    contract: options.File[Path | None] = None,
    json: options.Json = False,
) -> None:
    """Plan TASK, execute it step by step and judge every step.

    Exit status: 0 success, 1 failure, 2 bad input, 3 waiting for an answer, 130 interrupted by Ctrl-C.

    Args:
        contract: Check the output against a file that `checks --save` wrote, instead of the checks that are
            derived from the task. The judge decides besides, as with these.
    """
    check_thread_id(thread)
    chosen.check()
    if contract is not None and not chosen.checks:
        raise ConfigurationError("--contract and --no-checks contradict each other; give one of them")
    case = None if contract is None else _read_contract(contract, task)
    with open_or_make_store(db) as store:
        check_unused(store.history, thread)
        runs = OptionRuns(store, db, chosen, case=case)
        execution = Execution.of_new(runs, NewRun(task=task, thread_id=thread), thread)
        RunSession(runs, thread, json).run(execution)


def resume(
    chosen: Annotated[RunOptions, *OF_A_PLAN],
    thread: options.Thread,
    *,
    approve: bool = False,
    correct: Annotated[str | None, typer.Option(metavar="TEXT")] = None,
    deny: options.Reason[str | None] = None,
    halt: options.Reason[str | None] = None,
    db: options.Database = None,
    json: options.Json = False,
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
    answer = read_answer(approve=approve, correct=correct, deny=deny, halt=halt)
    with open_store(db) as store:
        runs = OptionRuns(store, db, chosen, chosen)
        changed = bool(chosen.model_fields_set)
        execution = Execution.of_stored(runs, thread, answer, accept_changes=changed)
        RunSession(runs, thread, json).run(execution)


def fork(
    step: options.Count[int],
    new: options.NewThread,
    chosen: Annotated[RunOptions, "checks"],
    thread: options.Thread,
    *,
    db: options.Database = None,
    json: options.Json = False,
) -> None:
    """Copy the run THREAD up to a step to a new run, and continue there. THREAD itself does not change.

    Options you leave out keep their values from the original run, except --tools, which runs code: give it
    again. Exit status as for `run`.

    Args:
        step: The first step to execute again, counted from 1 as `show` prints it.
    """
    check_thread_id(new)
    with open_store(db) as store:
        runs = OptionRuns(store, db, chosen, chosen)
        # Users count steps from 1, as `show` does.
        RunSession(runs, new, json).run(Execution.of_fork(runs, thread, step - 1, new))


def _read_contract(path: Path, task: str) -> TaskCase:
    """Reads the case of a task from a file that ``checks --save`` wrote.

    Raises:
        ContractError: The file has no cases.
        ConfigurationError: It has no case for this task, or several.
    """
    matches = [case for case in read_case_set(path).cases if case.task.split() == task.split()]
    if len(matches) != 1:
        raise ConfigurationError(
            f"--contract {str(path)!r} has {len(matches) or 'no'} cases for this task; "
            "give a file with one, such as `orchestrator checks --save` writes"
        )
    return matches[0]
