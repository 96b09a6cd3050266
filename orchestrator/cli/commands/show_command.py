"""``orchestrator show``."""

from __future__ import annotations

from dataclasses import asdict

from rich.text import Text

from orchestrator.cli.options import shared_options as shared
from orchestrator.cli.session.bad_input import report_bad_input
from orchestrator.cli.session.stored_options import open_store
from orchestrator.cli.session.thread_names import find_thread
from orchestrator.cli.view.consoles import build_console
from orchestrator.cli.view.json_documents import output_first, print_json
from orchestrator.cli.view.questions import describe_next
from orchestrator.cli.view.stored_runs import draw_run


def show(
    thread: shared.Thread = None,
    *,
    last: shared.Last = False,
    db: shared.Database = None,
    json: shared.Json = False,
) -> None:
    """Show the plan, the executions and the result of the run THREAD."""
    with report_bad_input(), open_store(db) as store:
        run = store.history.show(find_thread(store, thread, last=last))
        is_open = run.summary.status in ("waiting", "interrupted")
        hint = f"To go on, {describe_next(store, run.summary.thread_id)}" if is_open else ""
    if json:
        # A run that failed has no output; its failure says why it is null.
        named = {name: run.state[name] for name in ("output", "basis", "failure")}
        print_json({**named, **asdict(run.summary), "state": output_first(run.state)})
        return
    console = build_console()
    console.print(draw_run(run))
    if hint:
        console.print(Text(hint), soft_wrap=True)
