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
    str | None,
    typer.Argument(help="Name of the run, or the start of it.", metavar="THREAD", show_default=False),
]
Last = Annotated[
    bool,
    typer.Option(
        "--last",
        help="Instead of THREAD: the run that was stored last; for `resume`, of those that can be resumed.",
    ),
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
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
Verbose = Annotated[
    bool,
    typer.Option("--verbose", "-v", help="Show each output, its checks, and what the libraries log."),
]


@dataclass(frozen=True, slots=True)
class Display:
    """How a command shows a run.

    Attributes:
        json: Print JSON, and ask nothing.
        verbose: Show each output, its checks, and what the libraries log.
    """

    json: bool = False
    verbose: bool = False
