"""``orchestrator checks``."""

from __future__ import annotations

from typing import Annotated

import typer

from orchestrator.cli.arguments.parameters import AsJson, Task, TaskFile
from orchestrator.cli.process.opening import announce

Save = Annotated[
    str | None,
    typer.Option(
        help="Write the contract to a new file, YAML or JSON, to edit and pass to `run --contract`.",
        metavar="FILE",
    ),
]
Writer = Annotated[
    str | None,
    typer.Option(help="Have this model derive the checks, instead of rules.", metavar="SPEC"),
]


def checks(
    task: Task = None,
    *,
    task_file: TaskFile = None,
    save: Save = None,
    model: Writer = None,
    json: AsJson = False,
) -> None:
    """Print how a success of TASK is checked, and what stays unchecked.

    Exit status: 0, or 2 for bad input.
    """
    with announce("starting ..."):
        from orchestrator.cli.checks import print_checks  # noqa: PLC0415 - slow to import

    print_checks(task, task_file=task_file, save=save, model=model, json=json)
