"""``orchestrator resume``."""

from __future__ import annotations

from typing import Annotated

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


def resume(
    context: typer.Context,
    thread: shared.Thread = None,
    *,
    last: shared.Last = False,
    approve: Approve = False,
    correct: Correct = None,
    deny: Deny = None,
    halt: Halt = None,
    db: shared.Database = None,
    json: shared.Json = False,
    full: shared.Full = False,
    verbose: shared.Verbose = False,
    model: options.Model = None,
    context_size: options.ContextSize = None,
    tools: options.Tools = None,
    call_timeout: options.CallTimeout = None,
    step_timeout: options.StepTimeout = None,
    max_seconds: options.MaxSeconds = None,
    max_tokens: options.MaxTokens = None,
    max_calls: options.MaxCalls = None,
    require: options.Require = None,
    baseline: options.Baseline = None,
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
        display, typed = shared.Display(json, full, verbose), options.select_typed(context)
        answer = read_answer(approve=approve, correct=correct, deny=deny, halt=halt)
        with open_store(db) as store:
            name = find_thread(store, thread, last=last, among=("interrupted", "waiting"))
            session = RunSession(restore_options(store, name, typed), store, name, display)
            session.run(lambda orchestrator: orchestrator.astream_resumed(name, answer))
