"""``orchestrator fork``."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from orchestrator.cli.announcement import announce
from orchestrator.cli.options import run_options as options
from orchestrator.cli.options import shared_options as shared

Step = Annotated[
    int,
    typer.Option(
        help="The first step to execute again, counted from 1 as `show` prints it.", metavar="N", min=1
    ),
]


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
    with announce("starting ..."):  # slow imports, which the help does not need
        from orchestrator.cli.session.bad_input import report_bad_input
        from orchestrator.cli.session.run_session import RunSession
        from orchestrator.cli.session.stored_options import open_store, restore_options
        from orchestrator.cli.session.thread_names import find_thread
        from orchestrator.settings import check_thread_id
    with report_bad_input():
        display, changes = shared.Display(json, verbose), options.select_typed(typed)
        check_thread_id(new)
        with open_store(db) as store:
            name = find_thread(store, thread, last=last)
            session = RunSession(restore_options(store, name, changes), store, new, display)
            # Users count steps from 1, as `show` does.
            session.run(lambda orchestrator: orchestrator.astream_forked(name, step - 1, new))
