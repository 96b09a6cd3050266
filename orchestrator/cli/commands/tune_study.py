"""Runs a search for a retry policy and prints what it found."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import typer
from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

from evaluation.errors import MissingExtraError
from orchestrator.cli.process.exits import report_bad_input
from orchestrator.cli.process.statuses import BAD_INPUT, FAILED, INTERRUPTED
from orchestrator.cli.view.consoles import build_console, print_logs_on
from orchestrator.cli.view.text import clean, one_line, to_json
from orchestrator.errors import RunFailedError
from orchestrator.tuning.study_report import COLUMNS, list_rows, render_html
from orchestrator.tuning.trials import Trial
from orchestrator.tuning.tune import tune
from orchestrator.tuning.tune_result import TuneResult


def run_study(spec: Path, folder: Path, *, json: bool) -> None:
    """Search, print the result, and write the policy, the report and the picture.

    Raises:
        typer.Exit: The input is not accepted, a model failed, or the search was interrupted.
    """
    progress = build_console(stderr=True)
    with print_logs_on(progress), _report_failure():
        result = tune(spec, folder=folder, on_trial=lambda trials: _print_trial(progress, trials))
        files = _write_files(result, folder / result.spec.name)
    if json:
        typer.echo(to_json(_to_plain(result, files)).encode())
    else:
        _print_result(result, files)


@contextmanager
def _report_failure() -> Iterator[None]:
    with report_bad_input():
        try:
            yield
        except MissingExtraError as error:
            typer.echo(f"orchestrator: {one_line(str(error))}", err=True)
            raise typer.Exit(BAD_INPUT) from None
        except RunFailedError as error:
            typer.echo(f"orchestrator: {one_line(str(error))}", err=True)
            raise typer.Exit(FAILED) from None
        except KeyboardInterrupt:
            typer.echo("orchestrator: interrupted; the same command goes on with the finished runs", err=True)
            raise typer.Exit(INTERRUPTED) from None


def _print_trial(console: Console, trials: Sequence[Trial]) -> None:
    trial = trials[-1]
    rate = f"{trial.mean('success') or 0.0:.3f} on {len(trial.by_task)} tasks"
    ended = f"; {trial.stopped}" if trial.stopped else ""
    line = f"policy {len(trials)}: {trial.candidate.name}: success {rate}{ended}"
    console.print(Text(one_line(line)), soft_wrap=True)


def _write_files(result: TuneResult, home: Path) -> dict[str, str]:
    home.mkdir(parents=True, exist_ok=True)
    files = {"policy": home / "policy.yaml", "report": home / "report.html"}
    files["policy"].write_text(result.policy_yaml, encoding="utf-8")
    files["report"].write_text(render_html(result), encoding="utf-8")
    return {name: str(path) for name, path in files.items()}


def _print_result(result: TuneResult, files: dict[str, str]) -> None:
    # Whole names: two policies may differ in the last letter only.
    table = Table(*(Column(name, overflow="fold") for name in COLUMNS))
    for row in list_rows(result):
        table.add_row(*(Text(one_line(cell, 120)) for cell in row.values()))
    console = build_console()
    console.print(table)
    recommendation = result.recommendation
    lines = [recommendation.sentence, *_list_figures(result), recommendation.refutation]
    lines += [f"Ended early: {result.stopped}."] if result.stopped else []
    lines += [f"{name}: {path}" for name, path in files.items()]
    console.print(Text(clean("\n".join(lines))), soft_wrap=True)


def _list_figures(result: TuneResult) -> list[str]:
    """Lists the success of the best policy on the tasks of the search and on the held-out ones."""
    best, held_out = result.recommendation.best, result.recommendation.held_out
    if best is None or held_out is None:
        return []
    pairs = [("tasks of the search", best, result.trials[0]), ("held-out tasks", *held_out)]
    return [
        f"On the {len(after.by_task)} {name}: success {after.mean('success'):.3f} with "
        f"{best.candidate.name}, {before.mean('success'):.3f} with the default."
        for name, after, before in pairs
    ]


def _to_plain(result: TuneResult, files: dict[str, str]) -> dict[str, object]:
    recommendation = result.recommendation
    difference = recommendation.difference
    return {
        "recommended": recommendation.candidate.name,
        "sentence": recommendation.sentence,
        "refutation": recommendation.refutation,
        "is_told_apart": recommendation.is_told_apart,
        "held_out_difference": None if difference is None else difference.mean,
        "held_out_interval": None if difference is None else list(difference.interval),
        "figures": _list_figures(result),
        "policy": recommendation.candidate.policy.model_dump(mode="json"),
        "trials": list_rows(result),
        "front": [trial.candidate.name for trial in result.front],
        "stopped": result.stopped,
        "files": files,
    }
