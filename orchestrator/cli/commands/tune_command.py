"""``orchestrator tune``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from orchestrator.cli import consoles
from orchestrator.errors import RunFailedError
from orchestrator.study.tune import Trial
from orchestrator.study.tune import tune as tune_study


def tune(
    spec: Annotated[str, typer.Argument(metavar="SPEC")],
    *,
    folder: Annotated[Path, typer.Option(metavar="PATH")] = Path("."),
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
        policy.write_text(result.policy.to_yaml(), encoding="utf-8")
    lines = [result.sentence]
    lines += [f"{each.name}, held out: success {_format_success(each)}" for each in result.held_out or ()]
    consoles.build_console().print(
        Text(consoles.clean("\n".join([*lines, f"policy: {policy}"]))), soft_wrap=True
    )


def _print_trial(console: Console, trials: Sequence[Trial]) -> None:
    trial = trials[-1]
    line = f"policy {len(trials)}: {trial.name}: success {_format_success(trial)}"
    console.print(Text(consoles.one_line(line)), soft_wrap=True)


def _format_success(trial: Trial) -> str:
    low, high = trial.interval or (0.0, 1.0)
    return f"{trial.success:.3f} ({low:.3f} to {high:.3f}) on {len(trial.states)} tasks"
