"""The report of a search as one HTML file, and its table."""

from __future__ import annotations

from collections.abc import Mapping

from evaluation.reporting.page import Chart, DataTable, Listing, render_page
from orchestrator.tuning.recommendation import TuneResult
from orchestrator.tuning.trials import Trial


def render_html(result: TuneResult) -> str:
    """Returns the report of a search as one HTML file that needs no network."""
    rows, against = list_rows(result), result.spec.objective.against
    points = [_build_point(result, trial) for trial in result.trials]
    return render_page(
        f"Retry policies: {result.spec.name}",
        [result.recommendation.sentence, *([result.stopped] if result.stopped else [])],
        [
            Chart(
                "front",
                "Success against cost",
                "Every policy that was tried, with the 95 % interval of its success rate.",
                {"x": f"{against} per run", "y": "success rate", "points": points},
            )
        ],
        [DataTable("Policies", [*rows[0]], [[*row.values()] for row in rows])],
        [Listing("The policy to use", result.policy_yaml)],
    )


def list_rows(result: TuneResult) -> list[Mapping[str, str]]:
    """Returns a row for each policy that was tried, by the names of its columns."""
    objective = result.spec.objective
    return [
        {
            "policy": trial.candidate.name,
            "tasks": str(len(trial.by_task)),
            "success": f"{trial.success:.3f}",
            "95 % interval": format_interval(trial),
            "cost": f"{trial.cost(objective):.4g} {objective.against}",
            "note": trial.stopped or "",
        }
        for trial in result.trials
    ]


def format_interval(trial: Trial) -> str:
    """Formats the interval of the success rate: "0.800 to 0.960"."""
    interval = trial.interval
    return "" if interval is None else f"{interval.low:.3f} to {interval.high:.3f}"


def _build_point(result: TuneResult, trial: Trial) -> Mapping[str, object]:
    interval, is_best = trial.interval, trial.candidate == result.recommendation.candidate
    return {
        "name": trial.candidate.name,
        "x": trial.cost(result.spec.objective),
        "y": trial.success,
        "low": trial.success if interval is None else interval.low,
        "high": trial.success if interval is None else interval.high,
        "front": is_best,
        "group": "ended early" if trial.stopped else "recommended" if is_best else "tried",
        "interval": format_interval(trial),
    }
