"""Reads the parts of an evaluation report from its plain JSON; a missing part is empty."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Final, Literal, TypeAlias, cast

from evaluation.findings import STATUS, TRUNCATED, EvaluationStatus, FindingKind
from evaluation.report.report_model import Alert, CheckRecord
from orchestrator.state.records import Json

Report: TypeAlias = Mapping[str, object]
RefusalKind = Literal["format", "content", "length", "language", "tool", "judge", "unverified", "other"]
"""The kind of a failure: of a failed check, of a judge's refusal ("judge"), of a missing verdict
("unverified"), or of anything else, such as a bound on time."""

FAILURES: Final[tuple[EvaluationStatus, ...]] = ("invalid", "failed", "needs_review")
"""The statuses that keep a run from passing."""
_KINDS: Final[Mapping[FindingKind, RefusalKind]] = {
    "response": "content",
    "policy": "content",
    "lost_fact": "content",
    "trajectory": "tool",
    "collaboration": "tool",
    "judge": "judge",
    "judge_error": "unverified",
    "metric_error": "unverified",
    "missing_data": "unverified",
    "inconclusive": "unverified",
    "undecided": "unverified",
    "check_error": "unverified",
}


def alerts_of(report: Report) -> Sequence[Alert]:
    """Return the alerts, the most severe first."""
    return cast("Sequence[Alert]", report.get("alerts", ()))


def outcomes_of(report: Report, names: Collection[str] | None = None) -> list[Mapping[str, Any]]:
    """Return the outcomes of the metric groups with these names; of all groups by default."""
    groups = mapping(report.get("metrics"))
    return [
        outcome
        for name, group in groups.items()
        if names is None or name in names
        for outcome in cast("Sequence[Mapping[str, Any]]", mapping(group).get("checks", ()))
    ]


def judge_result(report: Report) -> Mapping[str, Json]:
    """Return the judge's checked answer, or an empty object."""
    return mapping(mapping(report.get("judge")).get("result"))


def mapping(value: object) -> Mapping[str, Json]:
    """Return an object as it is, and an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def checks_of(report: Report) -> Sequence[CheckRecord]:
    """Return the outcomes of the contract's checks, in its order."""
    return cast("Sequence[CheckRecord]", report.get("checks", ()))


def failed_kinds(report: Report) -> tuple[RefusalKind, ...]:
    """Return the kinds of everything that keeps a run from passing, each once; empty without a report."""
    return tuple(dict.fromkeys(_list_kinds(report)))


def _list_kinds(report: Report) -> Iterator[RefusalKind]:
    failed = [check for check in checks_of(report) if check["passed"] is False]
    critical = [check["kind"] for check in failed if check["severity"] == "critical"]
    yield from critical
    for alert in alerts_of(report):
        # The alert of a check says less than the check itself.
        is_told = alert["kind"] == "response" and alert["metric"] != TRUNCATED and bool(critical)
        if not is_told and STATUS[alert["kind"]][alert["severity"]] in FAILURES:
            yield kind_of(alert)


def kind_of(alert: Alert) -> RefusalKind:
    """Return the kind of failure that an alert stands for."""
    return "length" if alert["metric"] == TRUNCATED else _KINDS.get(alert["kind"], "other")


def is_refused_by_judge_alone(report: Report) -> bool:
    """Checks that no deterministic check failed."""
    return all(alert["kind"] == "judge" for alert in alerts_of(report) if alert["severity"] == "critical")


def is_refused_outright(report: Report) -> bool:
    """Checks whether the output was cut off or blocked, exposes a credential, or breaks a critical rule."""
    return any(
        (alert["kind"] == "policy" and alert["severity"] == "critical")
        or (alert["kind"] == "record" and alert["severity"] != "info")
        or alert["kind"] == "execution"
        or alert["metric"] == TRUNCATED
        for alert in alerts_of(report)
    )
