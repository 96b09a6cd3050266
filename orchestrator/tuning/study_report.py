"""The report of a search as one HTML file, and its table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from evaluation.reporting.page import Chart, DataTable, Listing, render_page
from orchestrator.tuning.trials import Trial
from orchestrator.tuning.tune_result import TuneResult


def render_html(result: TuneResult) -> str:
    """Returns the report of a search as one HTML file that needs no network."""
    recommendation = result.recommendation
    chart = Chart(
        "front",
        "Success against cost",
        "Every policy that was tried, with the 95 % interval of its success rate.",
        {
            "x": f"{result.spec.objective.against} per run",
            "y": "success rate",
            "points": _list_points(result),
        },
    )
    return render_page(
        f"Retry policies: {result.spec.name}",
        [recommendation.sentence, recommendation.refutation, *([result.stopped] if result.stopped else [])],
        [chart],
        [DataTable("Policies", list(COLUMNS), [list(row.values()) for row in list_rows(result)])],
        [Listing("The policy to use", result.policy_yaml)],
    )


COLUMNS: Final = ("policy", "tasks", "success", "95 % interval", "cost", "note")


def list_rows(result: TuneResult) -> list[Mapping[str, str]]:
    """Returns a row for each policy that was tried, by the names of ``COLUMNS``."""
    return [dict(zip(COLUMNS, _list_cells(result, trial), strict=True)) for trial in result.trials]


def _list_cells(result: TuneResult, trial: Trial) -> tuple[str, ...]:
    cost, interval = trial.mean(result.spec.objective.against), trial.interval("success")
    is_front = any(trial is each for each in result.front)
    return (
        trial.candidate.name,
        str(len(trial.by_task)),
        f"{trial.mean('success') or 0.0:.3f}",
        "" if interval is None else f"{interval.low:.3f} to {interval.high:.3f}",
        "" if cost is None else f"{cost:.4g} {result.spec.objective.against}",
        trial.stopped or ("on the front" if is_front else ""),
    )


def _list_points(result: TuneResult) -> list[Mapping[str, object]]:
    points: list[Mapping[str, object]] = []
    for trial, row in zip(result.trials, list_rows(result), strict=True):
        cost, interval = trial.mean(result.spec.objective.against), trial.interval("success")
        is_front = any(trial is each for each in result.front)
        group = "ended early" if trial.stopped else "on the front" if is_front else "beaten"
        if cost is not None and interval is not None:
            points.append(
                {
                    "name": trial.candidate.name,
                    "x": cost,
                    "y": trial.mean("success"),
                    "low": interval.low,
                    "high": interval.high,
                    "front": is_front,
                    "group": group,
                    "interval": row["95 % interval"],
                }
            )
    return points
