"""What is typed: the commands with their arguments. What they do is imported once it is wanted."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Final

import typer

from orchestrator.cli.arguments import mode, moment, number, text, thread_name, whole_number
from orchestrator.cli.arguments import status as stored_status
from orchestrator.runs.summary import StoredStatus
from orchestrator.state.records import SupervisionMode

_SPEC: Final = '"local", "ollama:NAME", "gguf:PATH" or "openai:NAME".'

Task = Annotated[str, typer.Argument(help="What to do.", metavar="TASK", show_default=False, parser=text)]
Model = Annotated[str, typer.Option(help=_SPEC, metavar="SPEC", parser=text)]
Retries = Annotated[
    int, typer.Option(help="Executions of a step after its first.", metavar="N", parser=whole_number)
]
Supervise = Annotated[
    SupervisionMode,
    typer.Option(
        help="Who decides on a step: the evaluation alone, a model where it is not clean, or you.",
        metavar="none|llm|human",
        parser=mode,
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print the final state as one JSON document.")]
Database = Annotated[
    str | None,
    typer.Option(
        help="What keeps runs in place of your file: another, or PostgreSQL.", metavar="PATH|URL", parser=text
    ),
]
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
NoDatabase = Annotated[bool, typer.Option("--no-db", help="Keep nothing.")]
ThreadOption = Annotated[
    str | None,
    typer.Option("--thread", help="Names the run; one is made up.", metavar="ID", parser=thread_name),
]
Thread = Annotated[str, typer.Argument(help="The run.", metavar="THREAD", show_default=False, parser=text)]
Approve = Annotated[bool, typer.Option("--approve", help="The output stands.")]
Correct = Annotated[
    str | None, typer.Option(help="Do it again, otherwise: how.", metavar="TEXT", parser=text)
]
Deny = Annotated[str | None, typer.Option(help="End the run: why.", metavar="REASON", parser=text)]
OtherRetries = Annotated[
    int | None, typer.Option(help="Executions of a step after its first.", metavar="N", parser=whole_number)
]
OtherSupervise = Annotated[
    SupervisionMode | None,
    typer.Option("--supervise", help="Who decides on a step.", metavar="none|llm|human", parser=mode),
]
OtherModel = Annotated[str | None, typer.Option(help=_SPEC, metavar="SPEC", parser=text)]
DoctorAsJson = Annotated[bool, typer.Option("--json", help="Print what was found as JSON.")]

Status = Annotated[
    StoredStatus | None,
    typer.Option(
        help="Those that are planning, executing, waiting, success, failed or unreadable.",
        metavar="STATUS",
        parser=stored_status,
    ),
]
Since = Annotated[
    datetime | None,
    typer.Option(help="Stored since a date, or in the last 90m, 12h or 7d.", metavar="TIME", parser=moment),
]
TaskPart = Annotated[
    str | None, typer.Option("--task", help="With this in its task.", metavar="TEXT", parser=text)
]
Limit = Annotated[int, typer.Option(help="At most so many.", metavar="N", parser=whole_number)]
KeepLast = Annotated[
    int | None, typer.Option(help="Keep so many that ended last.", metavar="N", parser=whole_number)
]
OlderThan = Annotated[
    float | None, typer.Option(help="Keep what was stored in so many days.", metavar="DAYS", parser=number)
]
Step = Annotated[
    int, typer.Option(help="The step to do again, as show counts.", metavar="N", parser=whole_number)
]
RunsAsJson = Annotated[bool, typer.Option("--json", help="Print what was found as JSON.")]


def run(
    task: Task,
    *,
    model: Model = "local",
    max_retries: Retries = 2,
    supervise: Supervise = "none",
    db: Database = None,
    no_db: NoDatabase = False,
    thread: ThreadOption = None,
    json: AsJson = False,
    call_timeout: CallTimeout = None,
    step_timeout: StepTimeout = None,
    max_seconds: MaxSeconds = None,
    max_tokens: MaxTokens = None,
    max_calls: MaxCalls = None,
) -> None:
    """Plan TASK, execute it step by step and have every step judged.

    Exit status: 0 success, 1 failure, 2 bad input, 3 waiting for an answer, 130 interrupted at the start.
    """
    from orchestrator.cli.run import begin  # noqa: PLC0415 - takes seconds

    typed = {
        "model": model,
        "supervise": supervise,
        "max_retries": max_retries,
        "call_timeout": call_timeout,
        "step_timeout": step_timeout,
        "max_seconds": max_seconds,
        "max_tokens": max_tokens,
        "max_calls": max_calls,
    }
    begin(task, typed, thread=thread, db=db, no_db=no_db, json=json)


def resume(
    thread: Thread,
    *,
    approve: Approve = False,
    correct: Correct = None,
    deny: Deny = None,
    db: Database = None,
    model: OtherModel = None,
    json: AsJson = False,
    call_timeout: CallTimeout = None,
    step_timeout: StepTimeout = None,
    max_seconds: MaxSeconds = None,
    max_tokens: MaxTokens = None,
    max_calls: MaxCalls = None,
) -> None:
    """Go on with the run THREAD: with your answer where it waits for one, or after a crash without.

    What is not typed is as it was when the run began. Exit status: as that of run.
    """
    from orchestrator.cli.run import go_on  # noqa: PLC0415 - takes seconds

    typed = {
        "model": model,
        "call_timeout": call_timeout,
        "step_timeout": step_timeout,
        "max_seconds": max_seconds,
        "max_tokens": max_tokens,
        "max_calls": max_calls,
    }
    go_on(thread, typed, approve=approve, correct=correct, deny=deny, db=db, json=json)


def fork(
    thread: Thread,
    *,
    step: Step,
    new: ThreadOption = None,
    db: Database = None,
    model: OtherModel = None,
    supervise: OtherSupervise = None,
    max_retries: OtherRetries = None,
    json: AsJson = False,
    call_timeout: CallTimeout = None,
    step_timeout: StepTimeout = None,
    max_seconds: MaxSeconds = None,
    max_tokens: MaxTokens = None,
    max_calls: MaxCalls = None,
) -> None:
    """Go on otherwise from before a step of the run THREAD, as a run of its own.

    What is not typed is as it was when the run began; that run stays as it is. Exit status: as that of run.
    """
    from orchestrator.cli.run import branch_off  # noqa: PLC0415 - takes seconds

    typed = {
        "model": model,
        "supervise": supervise,
        "max_retries": max_retries,
        "call_timeout": call_timeout,
        "step_timeout": step_timeout,
        "max_seconds": max_seconds,
        "max_tokens": max_tokens,
        "max_calls": max_calls,
    }
    branch_off(thread, step, typed, new=new, db=db, json=json)


def runs(
    *,
    status: Status = None,
    since: Since = None,
    task: TaskPart = None,
    limit: Limit = 50,
    db: Database = None,
    json: RunsAsJson = False,
) -> None:
    """List the runs that are kept, the one that was stored last first."""
    from orchestrator.cli.history import list_runs  # noqa: PLC0415 - takes seconds

    list_runs(status=status, since=since, task=task, limit=limit, db=db, json=json)


def show(thread: Thread, *, db: Database = None, json: RunsAsJson = False) -> None:
    """Show the run THREAD: its plan, its executions with their verdicts, what it used and what it gave."""
    from orchestrator.cli.history import show_run  # noqa: PLC0415 - takes seconds

    show_run(thread, db=db, json=json)


def delete(thread: Thread, *, db: Database = None) -> None:
    """Delete the run THREAD for good, whatever its status, unless it is being run right now."""
    from orchestrator.cli.history import delete_run  # noqa: PLC0415 - takes seconds

    delete_run(thread, db=db)


def prune(*, keep_last: KeepLast = None, older_than: OlderThan = None, db: Database = None) -> None:
    """Delete runs that have ended; never one that waits for an answer, is under way or was cut off.

    With both options, whatever either keeps is kept.
    """
    from orchestrator.cli.history import prune_runs  # noqa: PLC0415 - takes seconds

    prune_runs(keep_last=keep_last, older_than=older_than, db=db)


def doctor(json: DoctorAsJson = False) -> None:
    """Say what this machine has that a run needs.

    Exit status: 0 where a model can be used, 1 where none can.
    """
    from orchestrator.cli.doctor import examine  # noqa: PLC0415 - takes seconds

    examine(json=json)
