"""``orchestrator run``: plan, execute, monitor."""

from __future__ import annotations

from typing import Annotated

import typer

from orchestrator.budget import Budget
from orchestrator.cli.arguments import number, text, whole_number
from orchestrator.cli.consoles import can_draw, logs_on, progress_console, result_console
from orchestrator.cli.document import as_json
from orchestrator.cli.exits import FAILED, bad_input_exits, unwritten_exits
from orchestrator.cli.follow import follow, interrupted_before
from orchestrator.cli.interruption import unless_interrupted
from orchestrator.cli.progress import progress
from orchestrator.cli.summary import summary
from orchestrator.config import Settings, check_task
from orchestrator.state import OrchestratorState
from orchestrator.wiring import build_orchestrator

Task = Annotated[str, typer.Argument(help="What to do.", metavar="TASK", show_default=False, parser=text)]
Model = Annotated[
    str,
    typer.Option(help='"local", "ollama:NAME", "gguf:PATH" or "openai:NAME".', metavar="SPEC", parser=text),
]
Retries = Annotated[
    int, typer.Option(help="Executions of a step after its first.", metavar="N", parser=whole_number)
]
AsJson = Annotated[bool, typer.Option("--json", help="Print the final state as one JSON document.")]
CallTimeout = Annotated[
    float | None,
    typer.Option(help="Seconds that one call of an agent may take.", metavar="S", parser=number),
]
StepTimeout = Annotated[
    float | None,
    typer.Option(help="Seconds for a step with all its attempts.", metavar="S", parser=number),
]
MaxSeconds = Annotated[
    float | None, typer.Option(help="Seconds for the whole run.", metavar="S", parser=number)
]
MaxTokens = Annotated[
    int | None, typer.Option(help="Tokens, input and output together.", metavar="N", parser=whole_number)
]
MaxCalls = Annotated[int | None, typer.Option(help="Calls of the model.", metavar="N", parser=whole_number)]


def run(
    task: Task,
    *,
    model: Model = "local",
    max_retries: Retries = 2,
    json: AsJson = False,
    call_timeout: CallTimeout = None,
    step_timeout: StepTimeout = None,
    max_seconds: MaxSeconds = None,
    max_tokens: MaxTokens = None,
    max_calls: MaxCalls = None,
) -> None:
    """Plan TASK, execute it step by step and have every step judged.

    Exit status: 0 success, 1 the task failed, 2 bad input, 130 interrupted before it began.
    """
    with bad_input_exits():
        check_task(task)
        budget = Budget(max_seconds=max_seconds, max_total_tokens=max_tokens, max_model_calls=max_calls)
        settings = Settings(
            max_retries=max_retries, call_timeout=call_timeout, step_timeout=step_timeout, budget=budget
        )
        state = _run(task, model, settings, lines_only=json)
    with unwritten_exits():
        _report(state, json=json)
    if state["status"] != "success":
        raise typer.Exit(FAILED)


def _run(task: str, model: str, settings: Settings, *, lines_only: bool) -> OrchestratorState:
    console = progress_console()
    with logs_on(console):
        orchestrator = unless_interrupted(lambda: build_orchestrator(model, settings))
        if orchestrator is None:
            return interrupted_before(task, settings.max_retries)
        with progress(console, live=not lines_only and can_draw(console)) as show:
            return follow(orchestrator, task, show)


def _report(state: OrchestratorState, *, json: bool) -> None:
    if json:
        typer.echo(as_json(state).encode())
    else:
        result_console().print(summary(state))
