"""The options of ``orchestrator evaluate``: the fields of ``EvaluateOptions``."""

from __future__ import annotations

from dataclasses import dataclass, fields
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Final

import typer

from orchestrator.cli import shared_options as shared
from orchestrator.cli.shared_options import OutputFile
from orchestrator.experiments.recorded_evaluation import FailOn
from orchestrator.state.records import Requirement

_FOR_CASES: Final = ("target", "model", "repeat", "concurrency", "calls_per_second")


def _parse_since(text: str) -> timedelta:
    """Reads ``since=7d``.

    Raises:
        typer.BadParameter: It is no such text.
    """
    name, _, age = text.rpartition("=")
    if name != "since":
        raise typer.BadParameter(f"{text!r} is not accepted; give since=AGE, such as since=12h or since=7d")
    return shared.parse_age(age)


@dataclass(frozen=True, slots=True)
class EvaluateOptions:
    """The runs or cases, their contract, and the files of the results."""

    files: Annotated[
        list[Path] | None,
        typer.Argument(
            help="Files of recorded runs in any known format, a file of cases, or one that --out wrote.",
            metavar="FILE...",
            show_default=False,
        ),
    ] = None
    contract: Annotated[
        Path | None,
        typer.Option(
            help="A contract that holds for every run, or cases whose names or tasks are those of the runs.",
            metavar="FILE",
        ),
    ] = None
    thread: Annotated[
        list[str] | None,
        typer.Option("--thread", help="Evaluate this stored run (repeatable).", metavar="ID"),
    ] = None
    runs: Annotated[
        timedelta | None,
        typer.Option(
            help="Evaluate the stored runs of this last time that have ended, such as since=7d.",
            metavar="since=AGE",
            parser=_parse_since,
        ),
    ] = None
    db: shared.Database = None
    fail_on: Annotated[
        FailOn | None, typer.Option(help="The least severe status that is not accepted. Default: failed.")
    ] = None
    require: Annotated[Requirement | None, typer.Option(help="What an accepted run has to rest on.")] = None
    judge: Annotated[
        str | None, typer.Option(help="Ask this model what no program can decide.", metavar="SPEC")
    ] = None
    init: Annotated[bool, typer.Option("--init", help="Write an example of a file of cases to FILE.")] = False
    target: Annotated[
        str | None,
        typer.Option(
            help="What executes the cases: a function of the task, or an orchestrator. It imports MODULE "
            "from the current folder or an installed package: this runs its code.",
            metavar="MODULE:NAME",
        ),
    ] = None
    model: Annotated[
        str | None,
        typer.Option(help="Without a target: the model of the orchestrator. Default: local.", metavar="SPEC"),
    ] = None
    repeat: Annotated[
        int | None, typer.Option(help="How often each case is executed.", metavar="N", min=1)
    ] = None
    concurrency: Annotated[int, typer.Option(help="Executions at once.", metavar="N", min=1)] = 1
    calls_per_second: Annotated[
        float | None,
        typer.Option(help="Greatest rate of calls of the model, or of the target.", metavar="N", min=0.001),
    ] = None
    out: Annotated[
        Path | None,
        OutputFile(
            help="Store each result as it ends. The same command continues an interrupted evaluation."
        ),
    ] = None
    baseline: Annotated[
        Path | None,
        OutputFile(help="Fail for cases that are worse than in this file, and for no others."),
    ] = None
    save_baseline: Annotated[Path | None, OutputFile(help="Write the results as a baseline.")] = None
    add_to: Annotated[
        Path | None,
        OutputFile(help="Append a case made of the run of --thread to this file of cases."),
    ] = None
    html: Annotated[
        Path | None, OutputFile(help="Write a report to look at, with all runs in one HTML file.")
    ] = None
    csv: Annotated[Path | None, OutputFile(help="Write a row for each run to this file.")] = None
    junit: Annotated[Path | None, OutputFile(help="Write a JUnit report to this file.")] = None
    markdown: Annotated[Path | None, OutputFile(help="Write a summary for a pull request to this file.")] = (
        None
    )
    json: Annotated[bool, typer.Option("--json", help="Print the report of each run as a line of JSON.")] = (
        False
    )

    @property
    def for_cases(self) -> list[str]:
        """The options that are given, and have an effect only on cases that are executed."""
        values = {field.name: (getattr(self, field.name), field.default) for field in fields(self)}
        given = [name for name in _FOR_CASES if values[name][0] != values[name][1]]
        return [f"--{name.replace('_', '-')}" for name in given]
