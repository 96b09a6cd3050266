"""``orchestrator fork``."""

from __future__ import annotations

from typing import Annotated

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


def fork(
    context: typer.Context,
    step: Step,
    new: shared.NewThread,
    thread: shared.Thread = None,
    *,
    last: shared.Last = False,
    db: shared.Database = None,
    json: shared.Json = False,
    full: shared.Full = False,
    verbose: shared.Verbose = False,
    model: options.Model = None,
    context_size: options.ContextSize = None,
    tools: options.Tools = None,
    planning: options.Planning = None,
    supervise: options.Supervise = None,
    approve_tools: options.ApproveTools = None,
    once_tools: options.OnceTools = None,
    max_retries: options.MaxRetries = None,
    retry_policy: options.RetryPolicyFile = None,
    call_timeout: options.CallTimeout = None,
    step_timeout: options.StepTimeout = None,
    max_seconds: options.MaxSeconds = None,
    max_tokens: options.MaxTokens = None,
    max_calls: options.MaxCalls = None,
    synthesis: options.Synthesis = None,
    require: options.Require = None,
    baseline: options.Baseline = None,
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
        display, typed = shared.Display(json, full, verbose), options.select_typed(context)
        check_thread_id(new)
        with open_store(db) as store:
            name = find_thread(store, thread, last=last)
            session = RunSession(restore_options(store, name, typed), store, new, display)
            # Users count steps from 1, as `show` does.
            session.run(lambda orchestrator: orchestrator.astream_forked(name, step - 1, new))
