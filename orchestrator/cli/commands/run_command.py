"""``orchestrator run``."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Annotated, Any

import typer

from orchestrator.cli.announcement import announce
from orchestrator.cli.options import run_options as options
from orchestrator.cli.options import shared_options as shared
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


@options.add_run_options()
def run(
    thread: shared.NewThread,
    task: shared.Task = None,
    *,
    task_file: shared.TaskFile = None,
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
    with announce("starting ..."):  # slow imports, which the help does not need
        from orchestrator.cli.options.contract_file import read_contract
        from orchestrator.cli.options.task_text import read_task
        from orchestrator.cli.session.bad_input import report_bad_input
        from orchestrator.cli.session.build_orchestrator import check_names, read_policy_option
        from orchestrator.cli.session.run_session import RunSession
        from orchestrator.cli.session.stored_options import open_store, refuse_used_thread
        from orchestrator.settings import check_thread_id
    with report_bad_input():
        display, text = shared.Display(json, verbose), read_task(task, task_file)
        check_thread_id(thread)
        chosen = options.RunOptions.model_validate(options.select_typed(typed))
        check_names(chosen.without_checks)
        read_policy_option(chosen)
        _check_store_options(chosen, db, no_db=no_db)
        case = None if contract is None else read_contract(contract, text, derives=chosen.checks)
        with nullcontext() if no_db else open_store(db, chosen) as store:
            if store is not None:
                refuse_used_thread(store, thread)
            session = RunSession(chosen, store, thread, display)
            session.run(lambda orchestrator: orchestrator.astream(text, thread), case)


def _check_store_options(chosen: options.RunOptions, db: str | None, *, no_db: bool) -> None:
    asks = chosen.supervise == "human" or chosen.approve_tools is not None
    if no_db and (db is not None or asks):
        raise ConfigurationError(
            "--no-db contradicts --db, and cannot store a question of --supervise human or --approve-tools; "
            "leave one of them out"
        )
