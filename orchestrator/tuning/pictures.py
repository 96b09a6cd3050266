"""Pictures of a search: success against cost, and success by attempt; as HTML and PNG."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from evaluation.errors import MissingExtraError
from evaluation.reporting.page import Chart, DataTable, Listing, render_page
from orchestrator.tuning.replay.attempts import RecordedRun, failure_kind, has_passed
from orchestrator.tuning.trials import Trial
from orchestrator.tuning.tune_result import TuneResult

_ALL: Final = "all failures"


@dataclass(frozen=True, slots=True)
class SurvivalPoint:
    """The share of steps that have not passed after some attempts.

    Attributes:
        group: Kind of the failure of the first attempt, or "all failures".
        attempts: Number of attempts.
        share: Steps of this group that have not passed yet, from 0 to 1.
        at_risk: Steps that were executed at least so often.
    """

    group: str
    attempts: int
    share: float
    at_risk: int


def compute_survival(runs: Sequence[RecordedRun]) -> list[SurvivalPoint]:
    """Computes how the steps whose first attempt failed come to pass, by the kind of that failure.

    A step that was given up counts as long as it was tried.

    Source: Kaplan and Meier (1958), Nonparametric estimation from incomplete observations, JASA 53.
    """
    groups: dict[str, list[tuple[int, bool]]] = {}
    for step in (step for run in runs for step in run.steps if not has_passed(step.attempts[0])):
        end = (len(step.attempts), has_passed(step.attempts[-1]))
        for group in (_ALL, failure_kind(step.attempts[0])):
            groups.setdefault(group, []).append(end)
    return [point for group, ends in groups.items() for point in _follow(group, ends)]


def _follow(group: str, ends: Sequence[tuple[int, bool]]) -> list[SurvivalPoint]:
    passed = Counter(length for length, has_ended in ends if has_ended)
    share, points = 1.0, [SurvivalPoint(group, 1, 1.0, len(ends))]
    for attempts in range(2, max(length for length, _ in ends) + 1):
        at_risk = sum(length >= attempts for length, _ in ends)
        share *= 1.0 - passed[attempts] / at_risk
        points.append(SurvivalPoint(group, attempts, share, at_risk))
    return points


def render_html(result: TuneResult) -> str:
    """Returns the report of a search as one HTML file that needs no network."""
    recommendation = result.recommendation
    survival = compute_survival(result.attempts)
    charts = [
        Chart(
            "front",
            "Success against cost",
            "Every policy that was tried, with the 95 % interval of its success rate.",
            {
                "x": f"{result.spec.objective.against} per run",
                "y": "success rate",
                "points": _list_points(result),
            },
        )
    ]
    if survival:
        charts.append(
            Chart(
                "steps",
                "Success by attempt",
                "Share of steps not yet accepted, by the kind of the first failure.",
                {
                    "x": "attempts",
                    "y": "not yet accepted",
                    "ticks": max(point.attempts for point in survival) - 1,
                    "points": [
                        {"x": p.attempts, "y": p.share, "group": p.group, "at_risk": p.at_risk}
                        for p in survival
                    ],
                },
            )
        )
    return render_page(
        f"Retry policies: {result.spec.name}",
        [recommendation.sentence, recommendation.refutation, *([result.stopped] if result.stopped else [])],
        charts,
        [DataTable("Policies", list(COLUMNS), [list(row.values()) for row in list_rows(result)])],
        [Listing("The policy to use", result.policy_yaml)],
    )


COLUMNS: Final = ("policy", "tasks", "success", "95 % interval", "cost", "note")


def list_rows(result: TuneResult) -> list[Mapping[str, str]]:
    """Returns a row for each policy that was tried, by the names of ``COLUMNS``."""
    return [dict(zip(COLUMNS, _list_cells(result, trial), strict=True)) for trial in result.trials]


def _list_cells(result: TuneResult, trial: Trial) -> tuple[str, ...]:
    cost, interval = trial.mean(result.spec.objective.against), trial.interval("success")
    note = trial.stopped or ("" if trial.exact else "extrapolated")
    is_front = any(trial is each for each in result.front)
    return (
        trial.candidate.name,
        str(len(trial.by_task)),
        f"{trial.mean('success') or 0.0:.3f}",
        "" if interval is None else f"{interval.low:.3f} to {interval.high:.3f}",
        "" if cost is None else f"{cost:.4g} {result.spec.objective.against}",
        note or ("on the front" if is_front else ""),
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


def write_png(result: TuneResult, path: str | Path) -> None:
    """Writes both pictures as one PNG file.

    Raises:
        MissingExtraError: Matplotlib is not installed.
    """
    try:
        from matplotlib.figure import Figure  # noqa: PLC0415 - takes a second
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            "a PNG needs matplotlib, which is not installed; run: pip install 'plan-execute-monitor[tune]'"
        ) from error
    figure = Figure(figsize=(9, 9), layout="constrained")
    front, steps = figure.subplots(2)
    for point in _list_points(result):
        x, y, low, high = (float(str(point[name])) for name in ("x", "y", "low", "high"))
        colour = {"on the front": "C2", "beaten": "C7", "ended early": "C1"}[str(point["group"])]
        front.errorbar(x, y, [[max(0.0, y - low)], [max(0.0, high - y)]], fmt="o", color=colour, capsize=3)
        # Matplotlib would read $ as mathematics.
        front.annotate(
            str(point["name"]).replace("$", r"\$"), (x, y), (5, 5), textcoords="offset points", fontsize=7
        )
    joined = [point for point in _list_points(result) if point["front"]]
    line = sorted((float(str(point["x"])), float(str(point["y"]))) for point in joined)
    front.plot([x for x, _ in line], [y for _, y in line], "--", color="C2", linewidth=1)
    front.set(xlabel=f"{result.spec.objective.against} per run", ylabel="success rate", ylim=(0, 1))
    survival = compute_survival(result.attempts)
    for group in dict.fromkeys(point.group for point in survival):
        points = [point for point in survival if point.group == group]
        xs, ys = [point.attempts for point in points], [point.share for point in points]
        steps.step(xs, ys, where="post", marker="o", label=group.replace("$", r"\$"))
    steps.set_xticks(sorted({point.attempts for point in survival}))
    steps.set(xlabel="attempts", ylabel="not yet accepted", ylim=(0, 1.05))
    if survival:
        steps.legend()
    figure.savefig(path, format="png", dpi=150)
