"""``orchestrator tune``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from orchestrator.cli import shared_options as shared
from orchestrator.cli.view.consoles import (
    build_console,
    clean,
    one_line,
    print_json,
    print_logs_on,
    report_bad_input,
)
from orchestrator.errors import RunFailedError
from orchestrator.tuning.trials import Trial, TuneResult
from orchestrator.tuning.tune import tune as tune_study

Spec = Annotated[Path, typer.Argument(help="YAML file: tasks, space and budget.", metavar="SPEC")]
Folder = Annotated[
    Path,
    typer.Option(help="Where the folder of the study is kept: its runs, report and policy.", metavar="PATH"),
]


def tune(spec: Spec, *, folder: Folder = Path("."), json: shared.Json = False) -> None:
    """Search for the retry policy that pays on your tasks.

    The policy is checked on tasks that the search did not see. An interrupted search goes on where it was if
    you give the same command again.

    Exit status: 0, 1 if a model failed, 2 for bad input, 130 after Ctrl-C.
    """
    progress = build_console(stderr=True)
    with print_logs_on(progress), report_bad_input(RunFailedError):
        result = tune_study(spec, folder=folder, on_trial=lambda trials: _print_trial(progress, trials))
        files = _write_policy(result, folder / result.spec.name)
    if json:
        print_json(_to_plain(result, files))
    else:
        _print_result(result, files)


def _print_trial(console: Console, trials: Sequence[Trial]) -> None:
    trial = trials[-1]
    line = f"policy {len(trials)}: {trial.candidate.name}: success {_format_success(trial)}"
    console.print(Text(one_line(line)), soft_wrap=True)


def _format_success(trial: Trial) -> str:
    return f"{trial.success:.3f} ({_format_interval(trial)}) on {len(trial.by_task)} tasks"


def _write_policy(result: TuneResult, home: Path) -> dict[str, str]:
    home.mkdir(parents=True, exist_ok=True)
    path = home / "policy.yaml"
    path.write_text(result.policy_yaml, encoding="utf-8")
    return {"policy": str(path)}


def _print_result(result: TuneResult, files: dict[str, str]) -> None:
    held_out = result.recommendation.held_out or ()
    lines = [result.recommendation.sentence]
    lines += [f"{trial.candidate.name}, held out: success {_format_success(trial)}" for trial in held_out]
    lines += [f"Ended early: {result.stopped}."] if result.stopped else []
    lines += [f"{name}: {path}" for name, path in files.items()]
    build_console().print(Text(clean("\n".join(lines))), soft_wrap=True)


def _to_plain(result: TuneResult, files: dict[str, str]) -> dict[str, object]:
    recommendation = result.recommendation
    return {
        "recommended": recommendation.candidate.name,
        "sentence": recommendation.sentence,
        "is_told_apart": recommendation.is_told_apart,
        "difference": recommendation.difference and recommendation.difference._asdict(),
        "policy": recommendation.candidate.policy.model_dump(mode="json"),
        "trials": _list_rows(result),
        "stopped": result.stopped,
        "files": files,
    }


def _list_rows(result: TuneResult) -> list[dict[str, str]]:
    """Returns a row for each policy that was tried."""
    return [
        {
            "policy": trial.candidate.name,
            "tasks": str(len(trial.by_task)),
            "success": f"{trial.success:.3f}",
            "95 % interval": _format_interval(trial),
            "cost": f"{trial.tokens:.4g} tokens",
        }
        for trial in result.trials
    ]


def _format_interval(trial: Trial) -> str:
    """Formats the interval of the success rate: "0.800 to 0.960"."""
    interval = trial.interval
    return "" if interval is None else f"{interval.low:.3f} to {interval.high:.3f}"
