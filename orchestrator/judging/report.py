"""The parts of an evaluation report, read from its plain JSON; what is not there is empty."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias, cast

from evaluation.results.alerts import Alert
from evaluation.results.findings import MetricOutcome
from orchestrator.state.graph_state import Json

Report: TypeAlias = Mapping[str, Json]
Facts: TypeAlias = Mapping[str, Json]


def alerts_of(report: Report) -> Sequence[Alert]:
    """Its alerts, the most severe first."""
    return cast("Sequence[Alert]", report.get("alerts", ()))


def facts_of(report: Report, group: str) -> Facts:
    """One of its groups of metrics."""
    return mapping(mapping(report.get("metrics")).get(group))


def checks_of(report: Report) -> list[MetricOutcome]:
    """Its checks, group by group."""
    groups = mapping(report.get("metrics")).values()
    return [
        check
        for group in groups
        for check in cast("Sequence[MetricOutcome]", mapping(group).get("checks", ()))
    ]


def judge_result(report: Report) -> Facts:
    """What the judge said; empty where none did."""
    return mapping(mapping(report.get("judge")).get("result"))


def mapping(value: Json) -> Facts:
    """An object; an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def text(value: Json) -> str:
    """A text; an empty one for anything else."""
    return value if isinstance(value, str) else ""


def texts(value: Json) -> list[str]:
    """The texts of a list; none for anything else."""
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []
