"""``orchestrator resume``."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from orchestrator.cli.announcement import announce
from orchestrator.cli.options import run_options as options
from orchestrator.cli.options import shared_options as shared

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
    """Resume the run THREAD after a crash, or answer its question.

    Options you leave out keep their values from the original run, except --tools, which runs code: give it
    again. Exit status as for `run`.
    """
    with announce("starting ..."):  # slow imports, which the help does not need
        from orchestrator.cli.session.bad_input import report_bad_input
        from orchestrator.cli.session.person import read_answer
        from orchestrator.cli.session.run_session import RunSession
        from orchestrator.cli.session.stored_options import open_store, restore_options
        from orchestrator.cli.session.thread_names import find_thread
    with report_bad_input():
        display, changes = shared.Display(json, verbose), options.select_typed(typed)
        answer = read_answer(approve=approve, correct=correct, deny=deny, halt=halt)
        with open_store(db) as store:
            name = find_thread(store, thread, last=last, among=("interrupted", "waiting"))
            session = RunSession(restore_options(store, name, changes), store, name, display)
            session.run(
                lambda orchestrator: orchestrator.astream_resumed(name, answer, accept_changes=bool(changes))
            )
