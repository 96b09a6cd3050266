"""From a failed check to an alert: who is told what, and what to do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from typing_extensions import TypedDict

from evaluation.inputs.rules import Severity
from evaluation.results.findings import AuditFinding, FindingKind, MetricOutcome

ACTIONS: Final[Mapping[FindingKind, str]] = {
    "invalid_input": "Correct the case; nothing was evaluated.",
    "policy": "Block release and review the output against the policy.",
    "response": "Compare the output with what was asked, and correct the prompt or the agent.",
    "trajectory": "Block release and inspect tool routing.",
    "operational": "Inspect latency, tokens and calls; raise the limit only if the cost is accepted.",
    "collaboration": "Inspect the hand-offs between the agents.",
    "judge": "Read the judge's rationale and concerns, and correct the agent.",
    "judge_error": "Have a person review the run; the judge gave no usable answer.",
    "metric_error": "Correct the configuration named in the reason and evaluate again.",
    "missing_data": "Record the missing value, or remove its threshold.",
    "inconclusive": "Give a threshold or a judge, or have a person review the run.",
    "regression": "Compare with the baseline and find the change that caused it.",
    "drift": "Compare inputs and versions with those of the baseline.",
    "anomaly": "Inspect the run; repeat it before drawing conclusions.",
}
"""The recommended action by kind of finding."""


class Alert(TypedDict):
    """A finding that somebody has to know of."""

    severity: Severity
    kind: FindingKind
    metric: str
    observed: object
    limit: object
    reason: str
    owner: str | None
    recommended_action: str


def alert(found: MetricOutcome, owner: str | None = None) -> Alert:
    """Turn a check that did not pass into an alert."""
    return {
        "severity": found["severity"],
        "kind": found["kind"],
        "metric": found["metric"],
        "observed": found["observed"],
        "limit": found["limit"],
        "reason": found["reason"],
        "owner": found["owner"] or owner,
        "recommended_action": ACTIONS[found["kind"]],
    }


def policy_alert(finding: AuditFinding, owner: str | None = None) -> Alert:
    """Turn an audit finding into an alert; its rule may name its own action."""
    return {
        "severity": finding["severity"],
        "kind": finding["kind"],
        "metric": finding["metric"],
        "observed": finding["where"],
        "limit": finding["id"],
        "reason": finding["reason"],
        "owner": finding["owner"] or owner,
        "recommended_action": finding["recommended_action"] or ACTIONS[finding["kind"]],
    }
