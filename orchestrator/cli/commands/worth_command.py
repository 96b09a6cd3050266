"""``orchestrator worth``: how many attempts at a task pay."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Final, TypeAlias

import typer
from rich.table import Table

from evaluation.reporting.case_page import write_html
from orchestrator.cli import consoles, options
from orchestrator.cli.process_exit import FAILED
from orchestrator.errors import ConfigurationError
from orchestrator.study.recorded_trials import read_judge_figures, read_trials
from orchestrator.study.trial_outcomes import Terms
from orchestrator.study.worth import Worth, WorthPoint, estimate_worth

_Amount: TypeAlias = Annotated[float, typer.Option(metavar="N")]
_TERMS: Final = Terms()


def worth(  # noqa: PLR0917
    files: options.Files = None,
    value: _Amount = _TERMS.value,
    loss: _Amount = _TERMS.loss,
    cost_per_attempt: _Amount = _TERMS.cost_per_attempt,
    cost_usd: bool = False,
    truth: Annotated[str | None, typer.Option(metavar="FIELD")] = None,
    judge: options.File[Path | None] = None,
    at_most_wrong: Annotated[float | None, typer.Option(metavar="SHARE")] = None,
    policy: options.OutputFile = None,
    html: options.OutputFile = None,
    json: options.Json = False,
) -> None:
    """Say from recorded attempts how many attempts pay, and from when on another one is a loss.

    The files have several trials of each task, or runs with retries: stores in SQLite, the files of
    --out of evaluate and compare, states that `show --json` prints, and runs in the known formats. No model
    is asked. Intervals are for 95 %.

    Exit status: 0, 1 if there is nothing to write to --policy, because it cannot be told, 2 for bad input.

    Args:
        files: The recorded runs.
        value: Value of a right acceptance.
        loss: Loss by a wrong acceptance.
        cost_per_attempt: Cost of an attempt, in the same unit.
        cost_usd: The recorded cost in US dollars instead of --cost-per-attempt.
        truth: The field of the runs that says whether they are right: true or 1, false or 0.
        judge: Without a truth: the figures of the judge that `doctor --judge SPEC --json` prints.
        at_most_wrong: Say what may be accepted so that at most this share of it is wrong.
        policy: Write the recommendation as a retry policy.
        html: Write a page with the picture.
    """
    if not files:
        raise typer.BadParameter("give the files of recorded runs")
    consoles.check_outputs([policy, html], [*files, *([] if judge is None else [judge])])
    terms = Terms(value=value, loss=loss, cost_per_attempt=cost_per_attempt, in_usd=cost_usd)
    trust = None if judge is None else read_judge_figures(judge)
    with consoles.print_logs_on(consoles.build_console(stderr=True)):
        arms = {
            arm: estimate_worth(trials, terms, judge=trust, at_most_wrong=at_most_wrong)
            for arm, trials in read_trials(files, truth, trust).items()
        }
    described = [each.describe(arm) for arm, each in arms.items()]
    if html is not None:
        write_html(html, [], "Worth of retries", described)
    if json:
        consoles.print_json({"arms": described})
    else:
        _print(arms)
    if policy is not None:
        _write_policy(policy, arms)


def _print(arms: Mapping[str, Worth]) -> None:
    console = consoles.build_console()
    for arm, each in arms.items():
        if arm:
            console.print(consoles.one_line(arm), markup=False)
        console.print(_draw_points(each.points))
        for line in (*each.sentences, each.recommendation.sentence):
            console.print(consoles.one_line(line), markup=False, soft_wrap=True)


_COLUMNS: Final = {
    "k": "d",
    "tasks": "d",
    "right": ".0%",
    "wrong": ".0%",
    "attempts": ".2f",
    "tokens": ",.0f",
    "cost_usd": ".4f",
    "value": "+.2f",
}
"""The figures of a point that are shown, with their forms."""


def _draw_points(points: Sequence[WorthPoint]) -> Table:
    """Draws a row for each number of attempts, without the columns of which nothing is known."""
    shown = {name: form for name, form in _COLUMNS.items() if getattr(points[0], name) is not None}
    table = Table(*shown, box=None, pad_edge=False)
    for point in points:
        values = {name: getattr(point, name) for name in shown}
        table.add_row(
            *("-" if value is None else format(value, shown[name]) for name, value in values.items())
        )
    return table


def _write_policy(file: Path, arms: Mapping[str, Worth]) -> None:
    if len(arms) > 1:
        raise ConfigurationError(f"--policy is for one model or policy, and these runs are of {len(arms)}")
    for each in arms.values():
        policy = each.build_policy()
        if policy is None:
            typer.echo(f"{file} is not written: {each.recommendation.sentence}", err=True)
            raise typer.Exit(FAILED)
        file.write_text(policy.to_yaml(), encoding="utf-8")
