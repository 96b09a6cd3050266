"""``orchestrator tune``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from orchestrator.cli.arguments.parameters import AsJson
from orchestrator.cli.process.interruption import explain_ctrl_c
from orchestrator.cli.process.opening import announce

Spec = Annotated[Path, typer.Argument(help="YAML file: tasks, space, objective and budget.", metavar="SPEC")]
Folder = Annotated[
    Path,
    typer.Option(help="Where the folder of the study is kept: its runs, report and policy.", metavar="PATH"),
]


def tune(spec: Spec, *, folder: Folder = Path("."), json: AsJson = False) -> None:
    """Search for the retry policy that pays on your tasks.

    The policy is checked on tasks that the search did not see. An interrupted search goes on where it was.

    Exit status: 0, 1 if a model failed, 2 for bad input, 130 after Ctrl-C.
    """
    with announce("starting ..."):
        from orchestrator.cli.commands.tune_study import run_study  # noqa: PLC0415 - slow to import

    with explain_ctrl_c("interrupted; the same command goes on with the finished runs"):
        run_study(spec, folder, json=json)
