"""``orchestrator checks``."""

from __future__ import annotations

from typing import Annotated

import typer

from orchestrator.cli.options import AsJson

Task = Annotated[str, typer.Argument(help="The task to read.", metavar="TASK", show_default=False)]
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


def checks(task: Task, *, save: Save = None, model: Writer = None, json: AsJson = False) -> None:
    """Print what a success of TASK would be checked for, and what would not be checked.

    Exit status: 0, or 2 for bad input.
    """
    from orchestrator.cli.checks import print_checks  # noqa: PLC0415 - slow to import

    print_checks(task, save=save, model=model, json=json)
