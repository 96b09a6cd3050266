"""What a command prints of the state that it leaves behind, and the exit status."""

from __future__ import annotations

import typer
from rich.text import Text

from orchestrator.cli.ask import can_ask
from orchestrator.cli.exits import unwritten_exits
from orchestrator.cli.statuses import FAILED, WAITING
from orchestrator.cli.view.consoles import progress_console, result_console
from orchestrator.cli.view.document import as_json
from orchestrator.cli.view.question import how_to_answer, question_block
from orchestrator.cli.view.summary import summary
from orchestrator.persistence import Store
from orchestrator.state.graph_state import OrchestratorState, Question


def end(state: OrchestratorState, thread_id: str, store: Store | None, *, json: bool) -> None:
    """Print a state and exit.

    Raises:
        typer.Exit: With the status that says how the run ended, but for success.
    """
    question = state["question"] if state["status"] == "executing" else None
    with unwritten_exits():
        if json:
            typer.echo(as_json(state).encode())
        elif question is None:
            result_console().print(summary(state))
        elif not can_ask():  # or else it was put there
            result_console().print(question_block(question))
    if question is not None:
        _say_how(question, thread_id, store, json=json)
        raise typer.Exit(WAITING)
    if state["status"] != "success":
        raise typer.Exit(FAILED)


def _say_how(question: Question, thread_id: str, store: Store | None, *, json: bool) -> None:
    """On standard output with the question, on standard error beside a JSON document."""
    if store is None:
        return
    console = progress_console() if json else result_console()
    console.print(Text(how_to_answer(question, thread_id, store.where)), soft_wrap=True)
