"""Reads the parts of an evaluation report from its plain JSON; a missing part is empty."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TypeAlias, cast

from evaluation.results.alerts import Alert
from evaluation.results.findings import MetricOutcome
from orchestrator.state.records import Json

Report: TypeAlias = Mapping[str, Json]


def alerts_of(report: Report) -> Sequence[Alert]:
    """Return the alerts, the most severe first."""
    return cast("Sequence[Alert]", report.get("alerts", ()))


def outcomes_of(report: Report, names: Collection[str] | None = None) -> list[MetricOutcome]:
    """Return the outcomes of the metric groups with these names; of all groups by default."""
    groups = mapping(report.get("metrics"))
    return [
        outcome
        for name, group in groups.items()
        if names is None or name in names
        for outcome in cast("Sequence[MetricOutcome]", mapping(group).get("checks", ()))
    ]


def judge_result(report: Report) -> Mapping[str, Json]:
    """Return the judge's checked answer, or an empty object."""
    return mapping(mapping(report.get("judge")).get("result"))


def mapping(value: Json) -> Mapping[str, Json]:
    """Return an object as it is, and an empty one for anything else."""
    return value if isinstance(value, dict) else {}
