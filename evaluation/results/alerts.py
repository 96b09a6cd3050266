"""Builds alerts from outcomes and audit findings: the problem, the change, and the owner."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from typing_extensions import TypedDict

from evaluation.results.findings import AuditFinding, FindingKind, MetricOutcome, build_outcome
from evaluation.sensitive.quoting import shorten
from evaluation.values import Severity

ACTIONS: Final[Mapping[FindingKind, str]] = {
    "invalid_input": "Correct the case; nothing was evaluated.",
    "record": "Correct the record of the run, or have a person review it.",
    "execution": "Find the cause of the error, and run again.",
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
    "undecided": "Have a person decide whether the check holds.",
    "check_error": "Correct the check that the reason names, and evaluate again.",
    "lost_fact": "Compare the facts that the reason names with the reference.",
    "regression": "Compare with the baseline and find the change that caused it.",
    "improvement": "Confirm that the measurement is right, and renew the baseline.",
    "drift": "Compare inputs and versions with those of the baseline.",
    "anomaly": "Inspect the run; repeat it before drawing conclusions.",
}
"""The recommended action by kind of finding."""
_ENDS: Final = (".", "!", "?", "…")
_MOST_NAMES: Final = 5


class Alert(TypedDict):
    """A finding that a person, or an executor that tries again, has to know."""

    severity: Severity
    kind: FindingKind
    metric: str
    observed: object
    limit: object
    reason: str
    """What is wrong and what to change, for the reader of a report and for the executor."""
    owner: str | None
    recommended_action: str


def alert(outcome: MetricOutcome, owner: str | None = None) -> Alert:
    """Turn an outcome that did not pass into an alert."""
    return {
        "severity": outcome["severity"],
        "kind": outcome["kind"],
        "metric": outcome["metric"],
        "observed": outcome["observed"],
        "limit": outcome["limit"],
        "reason": end_sentence(outcome["reason"]),
        "owner": outcome["owner"] or owner,
        "recommended_action": ACTIONS[outcome["kind"]],
    }


def policy_alert(finding: AuditFinding, owner: str | None = None) -> Alert:
    """Turn an audit finding into an alert; its rule may name its own action."""
    kind, severity, reason = finding["kind"], finding["severity"], finding["reason"]
    place, name, own = finding["where"], finding["id"], finding["owner"]
    outcome = build_outcome(kind, finding["metric"], False, severity, reason, place, name, own)
    action = finding["recommended_action"] or ACTIONS[kind]
    return {**alert(outcome, owner), "recommended_action": action}


def end_sentence(text: str) -> str:
    """Add a full stop to a text that does not end a sentence."""
    stripped = text.rstrip()
    return stripped if not stripped or stripped.endswith(_ENDS) else f"{stripped}."


def join_names(names: Iterable[str]) -> str:
    """List up to five different names, each on one line and cut to 60 characters, and count the rest."""
    distinct = list(dict.fromkeys(names))
    more = len(distinct) - _MOST_NAMES
    shown = (shorten(name) for name in distinct[:_MOST_NAMES])
    text = ", ".join(name if name.isprintable() else ascii(name) for name in shown)
    return f"{text} and {more} more" if more > 0 else text
