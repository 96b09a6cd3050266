"""``orchestrator doctor``."""

from __future__ import annotations

from typing import Annotated

import typer

from orchestrator.cli.arguments.parameters import AsJson
from orchestrator.cli.arguments.values import count_parser
from orchestrator.cli.process.opening import announce


def doctor(
    judge: Annotated[
        str | None,
        typer.Option(
            help="Measure this model as a judge, about 130 calls, and keep the figures.", metavar="SPEC"
        ),
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option(
            help="With --judge: ask about this many outputs only. Such figures are not kept.",
            metavar="N",
            parser=count_parser(1),
        ),
    ] = None,
    json: AsJson = False,
) -> None:
    """Check which models can run, or how far a judge can be trusted.

    With --judge, a model judges outputs whose verdicts are known.

    Exit status: 0 if a model can be used, 1 if none can. With --judge: 0 if the judge is trusted, 1 if not.
    """
    if judge is not None:
        with announce("starting ..."):
            from orchestrator.cli.commands.judge import report_judge  # noqa: PLC0415 - slow to import

        report_judge(judge, limit, json=json)
        return
    if limit is not None:
        raise typer.BadParameter("--limit needs --judge SPEC; add it, or leave --limit out")
    with announce("starting ..."):
        from orchestrator.cli.doctor import report_models  # noqa: PLC0415 - slow to import

    report_models(json=json)
