"""``orchestrator compare``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from evaluation.evalset.case_result import CaseResult
from evaluation.reporting.arm_differences import compare_arms
from evaluation.reporting.arm_figures import summarize_arms
from evaluation.reporting.case_page import write_html
from orchestrator import persistence
from orchestrator.cli import shared_options as shared
from orchestrator.cli.process_exit import BAD_INPUT
from orchestrator.cli.session import compared_runs
from orchestrator.cli.session.named_files import check_outputs, name_file
from orchestrator.cli.session.queue_session import open_cases_queue
from orchestrator.cli.view.comparison_table import draw_arms, list_changed_cases, list_differences
from orchestrator.cli.view.consoles import (
    build_console,
    one_line,
    print_json,
    print_logs_on,
    report_bad_input,
)
from orchestrator.cli.view.output_streams import take_stdout
from orchestrator.experiments.model_arms import describe_unanswered


def compare(  # noqa: PLR0917
    files: Annotated[
        list[Path] | None,
        typer.Argument(help="Two or more files that --out wrote.", metavar="FILE...", show_default=False),
    ] = None,
    tasks: Annotated[
        Path | None, typer.Option(help="A file of cases, which every model executes.", metavar="FILE")
    ] = None,
    models: Annotated[str, typer.Option(help="The models, with commas.", metavar="SPEC,SPEC")] = "local",
    policies: Annotated[
        str, typer.Option(help="Files of retry policies, with commas.", metavar="FILE,FILE")
    ] = "",
    repeat: Annotated[int | None, typer.Option(help="Runs of each case.", metavar="N", min=1)] = None,
    seed: Annotated[int, typer.Option(help="The seed of the first run of each case.", min=0)] = 1,
    concurrency: Annotated[int, typer.Option(help="Runs at once.", metavar="N", min=1)] = 1,
    calls_per_second: Annotated[
        float | None, typer.Option(help="Greatest rate of calls of each model.", metavar="N", min=0.001)
    ] = None,
    db: shared.Database = None,
    queue: shared.CasesQueue = None,
    targets: Annotated[
        str,
        typer.Option(help="With --queue: the apps to compare, with commas.", metavar="MODULE:FUNCTION,..."),
    ] = "",
    evaluation: shared.EvaluationName = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Store each result as it ends; the same command continues.",
            metavar="FILE",
            callback=shared.refuse_dash,
        ),
    ] = None,
    html: Annotated[
        Path | None,
        typer.Option(
            help="Write a page with all runs and the charts of the models.",
            metavar="FILE",
            callback=shared.refuse_dash,
        ),
    ] = None,
    json: shared.Json = False,
) -> None:
    """Compare models or retry policies on the same cases, or evaluations that --out of a command wrote.

    The runs are stored, and `orchestrator show` shows each. NAME=VALUE after a comma is an option of the
    model before it.

    Exit status: 0, 1 if a store failed, 2 for bad input or if a model did not answer.
    """
    console = build_console(stderr=True)
    with print_logs_on(console), report_bad_input(), name_file(), take_stdout():
        if (tasks is None) == (not files):
            raise typer.BadParameter("give either --tasks FILE with --models, or files that --out wrote")
        _check_queue(queue, targets, tasks, bool(policies) or models != "local" or seed != 1)
        policy_files = [Path(name.strip()) for name in policies.split(",") if name.strip()]
        read = [*(files or ()), *policy_files, *([] if tasks is None else [tasks])]
        check_outputs([(html, ".html .htm"), (out, ".jsonl .json")], read)
        unread: list[str] = []
        if tasks is None:
            results = compared_runs.read_stored_arms(files or [])
            unread = compared_runs.list_unread(files or [])
        elif queue is not None:
            with open_cases_queue(db, queue, calls_per_second, concurrency) as opened:
                source = compared_runs.build_queued_comparison(tasks, targets, repeat, opened, evaluation)
                results = source.sort([*source.take(out, console)])
        else:
            with persistence.open_store(db) as store:
                source = compared_runs.build_comparison(
                    tasks,
                    compared_runs.split_models(models),
                    policy_files,
                    seed,
                    repeat,
                    store,
                    concurrency,
                    calls_per_second,
                )
                results = source.sort([*source.take(out, console)])
        unread += describe_unanswered(results)
        if html is not None:
            write_html(html, results, "Comparison")
    _print(results, as_json=json)
    for sentence in unread:
        console.print(one_line(sentence), markup=False)
    if unread:
        raise typer.Exit(BAD_INPUT)


def _check_queue(queue: str | None, targets: str, tasks: Path | None, chooses: bool) -> None:
    """Refuses options that contradict each other; ``chooses``: the command chooses models or policies."""
    if (queue is not None or targets) and (queue is None or not targets or tasks is None or chooses):
        raise typer.BadParameter(
            "--queue NAME, --targets and --tasks are given together, and without models, policies and a seed"
        )


def _print(results: Sequence[CaseResult], *, as_json: bool) -> None:
    figures, differences = summarize_arms(results), compare_arms(results)
    if as_json:
        print_json({"arms": figures, "differences": differences})
        return
    console = build_console()
    console.print(draw_arms(results, figures))
    for line in [*list_differences(differences), *list_changed_cases(results, differences)]:
        console.print(line, markup=False, soft_wrap=True)
