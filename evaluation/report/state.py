"""The state of the evaluation graph, in plain JSON, and the status that follows from its findings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, cast

from typing_extensions import TypedDict

from evaluation.checks.check_model import NotRun
from evaluation.contract.contract import AUDIT_METRICS
from evaluation.contract.requirements import Contract
from evaluation.contract.run import CallOutcome
from evaluation.report.findings import (
    TRUNCATED,
    Alert,
    AuditFinding,
    CheckRecord,
    EvaluationStatus,
    FindingKind,
    MetricOutcome,
)
from evaluation.values import JsonObject, Severity, as_list


class Action(TypedDict):
    """One observed action; every key is present."""

    kind: str
    name: str
    args: JsonObject | None
    args_error: str | None
    """Why the recorded text of the arguments is not a JSON object; ``args`` is None then."""
    args_text: str | None
    """The recorded text of such arguments."""
    result: object
    error: str | None
    """The text of an error; None if the call succeeded."""
    not_run: NotRun | None
    """Why the tool did not run; None if it did."""
    outcome: CallOutcome | None
    """What the call did, if the tool is stated to act and the record tells; None for any other call."""
    agent: str | None
    target: str | None
    latency_ms: float | None
    message: int | None
    """The number of the message that made the call."""


class EvaluationState(TypedDict, total=False):
    """Every field that a node reads or writes; all are present after the last node."""

    input: str
    case_id: str | None
    agent_run: JsonObject
    actual_output: str
    record_checks: list[MetricOutcome]
    """What keeps the record of the run from being trusted."""
    reference_output: str | None
    actual_trajectory: list[Action]
    expected_trajectory: list[JsonObject]
    trajectory_match_mode: str
    run_metadata: JsonObject
    thresholds: dict[str, JsonObject]
    """Normalised: min, max, severity, owner by metric."""
    rubric: JsonObject | None
    baseline_metrics: JsonObject | None
    fake_judge_response: JsonObject | str | None
    """Stands for the answer of a judge if no judge is given."""
    contract: JsonObject
    """The contract as JSON."""
    may_be_sensitive: bool
    """Whether the case may contain a credential or personal data; False: certainly not."""
    check_results: list[CheckRecord]
    """The outcomes of the contract's checks, in its order."""
    response_metrics: JsonObject
    operational_metrics: JsonObject
    trajectory_metrics: JsonObject
    judge_decision: JsonObject
    """Whether a judge was needed, why, and what it cost."""
    judge_result: JsonObject | None
    audit_findings: list[AuditFinding]
    drift_signals: JsonObject
    alerts: list[Alert]
    evaluation_status: EvaluationStatus
    errors: list[str]
    evaluation_report: JsonObject | None


class PreparedState(EvaluationState, total=False):
    """The state between the nodes, with what is not stored."""

    demands: Contract
    """The contract, validated once."""


def read_demands(state: EvaluationState) -> Contract:
    """Return the contract of a state; one that comes from a store is read from its JSON."""
    demands = cast("PreparedState", state).get("demands")
    return Contract.read(state["contract"]) if demands is None else demands


def metric_groups(state: EvaluationState) -> dict[str, JsonObject]:
    """Return the metric groups by name, in the order of the report."""
    return {
        "response": state["response_metrics"],
        "operational": state["operational_metrics"],
        "trajectory": state["trajectory_metrics"],
    }


def metric_outcomes(state: EvaluationState) -> list[MetricOutcome]:
    """List every outcome of the three metric groups."""
    return _list_outcomes(*metric_groups(state).values())


def judge_outcomes(state: EvaluationState) -> list[MetricOutcome]:
    """List the outcomes of the judge's answer or failure."""
    return _list_outcomes(state["judge_result"] or {})


def _list_outcomes(*groups: JsonObject) -> list[MetricOutcome]:
    outcomes = [outcome for group in groups for outcome in as_list(group.get("checks"))]
    return cast("list[MetricOutcome]", outcomes)


NOTHING_ASKED: Final = "the contract contains no check"
NOTHING_DECIDES: Final = (
    "no check of the contract has an answer, or each only informs, as severity info and a single earlier run "
    "do; give a check the severity warning or critical, or give a tolerance in 'drift'"
)


def has_any_demand(state: EvaluationState) -> bool:
    """Return whether the contract contains any demand. A run with nothing to check cannot pass."""
    return bool(state["baseline_metrics"] or read_demands(state).requirements)


def is_decided(state: EvaluationState, outcomes: Iterable[MetricOutcome]) -> bool:
    """Return whether a check that more than informs is answered, or such an audit rule is given."""
    answered = [outcome["severity"] for outcome in outcomes if outcome["passed"] is not None]
    return not {*_rule_severities(state), *answered} <= {"info"}


def only_informs(state: EvaluationState, outcomes: Iterable[MetricOutcome]) -> bool:
    """Return whether there are checks or audit rules, and all of them only inform."""
    return {*_rule_severities(state), *(outcome["severity"] for outcome in outcomes)} == {"info"}


def _rule_severities(state: EvaluationState) -> list[object]:
    thresholds, audit = state["thresholds"], read_demands(state).rules.audit
    bounds = [thresholds[name] for name in AUDIT_METRICS if name in thresholds]
    searched = ["critical"] if audit.defects == "fail" else []
    severities = [rule.severity for rule in audit.rules]
    return [*searched, *severities, *(bound.get("severity", "critical") for bound in bounds)]


def has_critical_finding(state: EvaluationState) -> bool:
    """Return whether an audit finding fails the run regardless of all else."""
    return any(finding["severity"] == "critical" for finding in state["audit_findings"])


def has_ended_early(state: EvaluationState) -> bool:
    """Return whether the run has no whole output, so that there is nothing more to ask about it."""
    return any(ends_early(outcome["kind"], outcome["metric"]) for outcome in state.get("record_checks", ()))


def ends_early(kind: FindingKind, metric: str) -> bool:
    """Return whether a finding says that the output is missing or was cut off."""
    return kind == "execution" or metric == TRUNCATED


STRICTNESS: Final[tuple[EvaluationStatus, ...]] = ("passed", "warning", "needs_review", "failed", "invalid")
"""From the mildest to the strictest."""

STATUS: Final[Mapping[FindingKind, Mapping[Severity, EvaluationStatus]]] = {
    # kind of finding    info                  warning                    critical
    "invalid_input": {"info": "invalid", "warning": "invalid", "critical": "invalid"},
    "record": {"info": "passed", "warning": "needs_review", "critical": "failed"},
    "execution": {"info": "failed", "warning": "failed", "critical": "failed"},
    "policy": {"info": "passed", "warning": "warning", "critical": "failed"},
    "response": {"info": "passed", "warning": "warning", "critical": "failed"},
    "trajectory": {"info": "passed", "warning": "warning", "critical": "failed"},
    "operational": {"info": "passed", "warning": "warning", "critical": "failed"},
    "collaboration": {"info": "passed", "warning": "warning", "critical": "failed"},
    "judge": {"info": "passed", "warning": "warning", "critical": "failed"},
    "regression": {"info": "passed", "warning": "warning", "critical": "failed"},
    "improvement": {"info": "passed", "warning": "passed", "critical": "passed"},
    "drift": {"info": "passed", "warning": "warning", "critical": "needs_review"},
    "anomaly": {"info": "passed", "warning": "warning", "critical": "needs_review"},
    "judge_error": {"info": "needs_review", "warning": "needs_review", "critical": "failed"},
    "metric_error": {"info": "needs_review", "warning": "needs_review", "critical": "failed"},
    "missing_data": {"info": "warning", "warning": "needs_review", "critical": "failed"},
    "inconclusive": {"info": "needs_review", "warning": "needs_review", "critical": "failed"},
    # No judge settles it: whether a check holds is no matter of opinion.
    "undecided": {"info": "passed", "warning": "needs_review", "critical": "failed"},
    "check_error": {"info": "needs_review", "warning": "needs_review", "critical": "failed"},
    "defect": {"info": "passed", "warning": "warning", "critical": "failed"},
    "suspicion": {"info": "passed", "warning": "needs_review", "critical": "failed"},
    # No judge settles it: a text may say the same without the fact, but no check can tell.
    "lost_fact": {"info": "needs_review", "warning": "needs_review", "critical": "failed"},
}
"""The status by kind and severity. Only a measured finding, or a check, of severity info lets a run pass."""


def strictest_status(findings: Iterable[tuple[FindingKind, Severity]]) -> EvaluationStatus:
    """Return the strictest status of any finding; ``passed`` if there is none."""
    statuses = (STATUS[kind][severity] for kind, severity in findings)
    return max(statuses, key=STRICTNESS.index, default="passed")
