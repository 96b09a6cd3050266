"""Arguments and options that several commands share."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import Annotated

import typer

Task = Annotated[
    str | None,
    typer.Argument(help='What to do; "-" reads it from standard input.', metavar="TASK", show_default=False),
]
TaskFile = Annotated[
    str | None,
    typer.Option(help='Read the task from this file; "-" is standard input.', metavar="FILE"),
]
Thread = Annotated[
    str,
    typer.Argument(help="Name of the run, or the start of it.", metavar="THREAD", show_default=False),
]
ThreadOrLast = Annotated[
    str | None,
    typer.Argument(help="Name of the run, or the start of it.", metavar="THREAD", show_default=False),
]
NewThread = Annotated[
    str,
    typer.Option(
        "--thread",
        help="Name of the new run. Default: a generated one.",
        metavar="ID",
        default_factory=lambda: str(uuid.uuid4()),
        show_default=False,
    ),
]
Database = Annotated[
    str | None,
    typer.Option(
        help="SQLite file or PostgreSQL URL that stores the runs. Default: a file in your data folder.",
        metavar="PATH|URL",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
InFull = Annotated[
    bool, typer.Option("--full", help="With --json: print the whole state, with every report and call.")
]
Verbose = Annotated[
    bool,
    typer.Option("--verbose", "-v", help="Show each output, its checks, and what the libraries log."),
]


def check_thread_choice(thread: str | None, *, last: bool) -> None:
    """Refuse a command with neither a run nor ``--last``, or with both.

    Raises:
        typer.BadParameter: That is so.
    """
    if thread is None and not last:
        raise typer.BadParameter(
            "THREAD is missing; give the name of a run as `orchestrator runs` lists it, or --last"
        )
    if thread is not None and last:
        raise typer.BadParameter("THREAD and --last contradict each other; give one of them")


@dataclass(frozen=True, slots=True)
class Answers:
    """The options that answer a question; at most one of them is given.

    Attributes:
        approve: The output is accepted, or the tool may run.
        correct: Instructions for another attempt, or the result of a tool call that had its effect.
        deny: Why the step ends the run, or the tool does not run.
        halt: Why the run ends at a tool call.
    """

    approve: bool = False
    correct: str | None = None
    deny: str | None = None
    halt: str | None = None


@dataclass(frozen=True, slots=True)
class Display:
    """How a command shows a run.

    Attributes:
        json: Print JSON, and ask nothing.
        full: Print the whole state as JSON.
        verbose: Show each output, its checks, and what the libraries log.
    """

    json: bool = False
    full: bool = False
    verbose: bool = False

    def __post_init__(self) -> None:
        """Refuse ``--full`` without ``--json``."""
        if self.full and not self.json:
            raise typer.BadParameter("--full needs --json; add it, or leave --full out")
