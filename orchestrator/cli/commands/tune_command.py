"""``orchestrator tune``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from orchestrator.cli import consoles, options
from orchestrator.errors import RunFailedError
from orchestrator.study.trials import Trial, TuneResult
from orchestrator.study.tune import tune as tune_study


def tune(
    spec: Annotated[str, typer.Argument(metavar="SPEC")],
    *,
    folder: Annotated[Path, typer.Option(metavar="PATH")] = Path("."),
    json: options.Json = False,
) -> None:
    """Search for the retry policy that pays on your tasks.

    The policy is checked on tasks that the search did not see. An interrupted search goes on where it was if
    you give the same command again.

    Exit status: 0, 1 if a model failed, 2 for bad input, 130 after Ctrl-C.

    Args:
        spec: YAML file: tasks, space and budget.
        folder: Where the folder of the study is kept: its runs, report and policy.
    """
    progress = consoles.build_console(stderr=True)
    with consoles.print_logs_on(progress), consoles.report_bad_input(RunFailedError):
        result = tune_study(spec, folder=folder, on_trial=lambda trials: _print_trial(progress, trials))
        policy = folder / result.spec.name / "policy.yaml"
        policy.parent.mkdir(parents=True, exist_ok=True)
        policy.write_text(result.policy_yaml, encoding="utf-8")
    if json:
        consoles.print_json(_to_plain(result, policy))
    else:
        _print_result(result, policy)


def _print_trial(console: Console, trials: Sequence[Trial]) -> None:
    trial = trials[-1]
    line = f"policy {len(trials)}: {trial.candidate.name}: success {_format_success(trial)}"
    console.print(Text(consoles.one_line(line)), soft_wrap=True)


def _format_success(trial: Trial) -> str:
    low, high = trial.interval or (0.0, 1.0)
    return f"{trial.success:.3f} ({low:.3f} to {high:.3f}) on {len(trial.by_task)} tasks"


def _print_result(result: TuneResult, policy: Path) -> None:
    held_out = result.recommendation.held_out or ()
    lines = [result.recommendation.sentence]
    lines += [f"{trial.candidate.name}, held out: success {_format_success(trial)}" for trial in held_out]
    lines += [f"Ended early: {result.stopped}."] if result.stopped else []
    lines.append(f"policy: {policy}")
    consoles.build_console().print(Text(consoles.clean("\n".join(lines))), soft_wrap=True)


def _to_plain(result: TuneResult, policy: Path) -> dict[str, object]:
    recommendation = result.recommendation
    return {
        "recommended": recommendation.candidate.name,
        "sentence": recommendation.sentence,
        "is_told_apart": recommendation.is_told_apart,
        "difference": recommendation.difference and recommendation.difference._asdict(),
        "policy": recommendation.candidate.policy.model_dump(mode="json"),
        "trials": list(map(_describe_trial, result.trials)),
        "stopped": result.stopped,
        "files": {"policy": str(policy)},
    }


def _describe_trial(trial: Trial) -> dict[str, object]:
    figures = {"success": trial.success, "interval": trial.interval, "tokens": trial.tokens}
    return {"policy": trial.candidate.name, "tasks": len(trial.by_task), **figures}
