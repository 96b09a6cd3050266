"""The report of a search as one HTML file, and its table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from evaluation.reporting.page import Chart, DataTable, Listing, render_page
from evaluation.statistics.intervals import Interval
from orchestrator.tuning.recommendation import TuneResult
from orchestrator.tuning.trials import Trial


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
    objective, interval = result.spec.objective, trial.interval("success")
    return (
        trial.candidate.name,
        str(len(trial.by_task)),
        f"{trial.success:.3f}",
        "" if interval is None else f"{interval.low:.3f} to {interval.high:.3f}",
        f"{trial.cost(objective):.4g} {objective.against}",
        trial.stopped or ("on the front" if _is_on_front(result, trial) else ""),
    )


def _list_points(result: TuneResult) -> list[Mapping[str, object]]:
    drawn = [(trial, trial.interval("success")) for trial in result.trials]
    return [_build_point(result, trial, interval) for trial, interval in drawn if interval is not None]


def _build_point(result: TuneResult, trial: Trial, interval: Interval) -> Mapping[str, object]:
    is_front = _is_on_front(result, trial)
    return {
        "name": trial.candidate.name,
        "x": trial.cost(result.spec.objective),
        "y": trial.success,
        "low": interval.low,
        "high": interval.high,
        "front": is_front,
        "group": "ended early" if trial.stopped else "on the front" if is_front else "beaten",
        "interval": f"{interval.low:.3f} to {interval.high:.3f}",
    }


def _is_on_front(result: TuneResult, trial: Trial) -> bool:
    return any(trial is each for each in result.front)
