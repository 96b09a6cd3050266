"""Nodes: compare cost, calls and actions with the contract, check the audit rules, find sensitive data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from agents.credentials.detector import Category
from evaluation.contract.contract import AUDIT_METRICS, AuditRules, EvaluationContract, Reaction
from evaluation.defects.evidence import DefectFinding, Level, build_evidence
from evaluation.defects.rules import find_defects
from evaluation.findings import Finding, FindingKind
from evaluation.measures.audit_rules import (
    AuditedRun,
    build_audit_finding,
    check_shares,
    exposure_findings,
    rule_findings,
)
from evaluation.measures.metric_table import select_operational
from evaluation.measures.operational import score_operational
from evaluation.measures.trajectory_scores import (
    COLLABORATION_METRICS,
    TRAJECTORY_METRICS,
    TrajectoryScores,
    score_collaboration,
    score_trajectory,
)
from evaluation.nodes.score_response_quality import build_context
from evaluation.plugins import Plugins
from evaluation.report.metric_groups import Score, build_group, group_status
from evaluation.report.report_model import describe_audit_finding
from evaluation.report.state import EvaluationState, read_demands, select_findings
from evaluation.sensitive.scanner import build_search
from evaluation.values import JsonObject, Severity, as_list, as_object

_LEVELS: Final[Mapping[Level, tuple[FindingKind, Severity]]] = {
    "defect": ("defect", "critical"),
    "suspicion": ("suspicion", "warning"),
    "note": ("defect", "info"),
}
"""The kind and the severity of a finding by the level of its rule."""


def score_operational_metrics(state: EvaluationState, plugins: Plugins) -> EvaluationState:
    """Check latency, tokens, cost, calls and custom resources against their thresholds."""
    run = state["agent_run"]
    actions = state["actual_trajectory"] if "tool_calls" in run else None
    metadata = state["run_metadata"]
    bounds = select_operational(state["thresholds"], as_object(metadata.get("resources")))
    metrics, findings = score_operational(metadata, actions, bounds, plugins.prices)
    return {"operational_metrics": metrics, "findings": [*state["findings"], *findings]}


def evaluate_trajectory(state: EvaluationState, plugins: Plugins) -> EvaluationState:  # noqa: ARG001
    """Compare the trajectory with the expected one by the configured mode, and score the collaboration."""
    rules = read_demands(state).rules
    scores = _score_trajectory(state, rules)
    shared, shared_findings = _score_collaboration(state, rules)
    findings = [*_withdraw_unproved(scores.checks, state), *shared_findings]
    called = select_findings(state, "trajectory")
    metrics = build_group({**scores.scores, **shared}, [*called, *findings], scores.facts)
    return {
        # build_group saw the collaboration too, which has scores even if no trajectory is expected.
        "trajectory_metrics": {**metrics, "status": group_status(scores.scores)},
        "findings": [*state["findings"], *findings],
        "errors": [*state["errors"], *scores.errors],
    }


def _withdraw_unproved(checks: Sequence[Finding], state: EvaluationState) -> Iterable[Finding]:
    """Withdraw each pass if the run records no actions: an unrecorded action proves nothing."""
    if "tool_calls" in state["agent_run"]:
        return checks
    return [_without_proof(check) if check.passed else check for check in checks]


def _without_proof(check: Finding) -> Finding:
    reason = "the run does not record its actions (tool_calls)"
    return replace(check, kind="missing_data", passed=None, severity="warning", reason=reason)


def _score_trajectory(state: EvaluationState, rules: EvaluationContract) -> TrajectoryScores:
    return score_trajectory(
        state["actual_trajectory"],
        rules.expected_trajectory,
        state["trajectory_match_mode"],
        rules.trajectory,
        _select_bounds(state, TRAJECTORY_METRICS),
        [*map(str, as_list(state["agent_run"].get("acting_tools")))],
    )


def _score_collaboration(
    state: EvaluationState, rules: EvaluationContract
) -> tuple[dict[str, Score], list[Finding]]:
    return score_collaboration(
        state["actual_trajectory"],
        rules.expected_trajectory or (),
        [*map(str, as_list(state["agent_run"].get("plan")))],
        rules.trajectory,
        _select_bounds(state, COLLABORATION_METRICS),
    )


def _select_bounds(state: EvaluationState, metrics: Iterable[str]) -> dict[str, JsonObject]:
    return {name: state["thresholds"][name] for name in metrics if name in state["thresholds"]}


def audit_requirements(state: EvaluationState, plugins: Plugins) -> EvaluationState:
    """Find breaches of the contract's audit rules, and credentials and personal data."""
    audit = read_demands(state).rules.audit
    breaches = rule_findings(audit.rules, _build_audited_run(state)) if audit.rules else []
    findings = [*breaches, *_find_defects(state, audit), *_find_exposures(state, audit, plugins)]
    thresholds = state["thresholds"]
    asked = thresholds.keys() - as_object(state["run_metadata"].get("resources")).keys()
    bounds: dict[str, JsonObject] = {name: thresholds[name] for name in AUDIT_METRICS if name in asked}
    searched = audit.credentials != "off"
    findings += check_shares(bounds, audit.rules, findings, searched=searched)
    return {
        "audit_findings": [*map(describe_audit_finding, findings)],
        "findings": [*state["findings"], *findings],
    }


def _find_defects(state: EvaluationState, audit: AuditRules) -> Iterator[Finding]:
    """Yield the contradictions between what the run did and what it says."""
    if audit.defects == "off":
        return
    evidence = build_evidence(
        state["agent_run"],
        state["actual_trajectory"],
        state["actual_output"],
        as_object(state["contract"].get("trajectory")),
    )
    is_strict = audit.defects == "fail"
    for each in find_defects(evidence):
        yield _report_defect(each, is_strict=is_strict)
    if audit.demands_defects and not evidence.has_calls:
        reason = "The run does not record its calls, so no claim was compared with them"
        yield build_audit_finding("defects.no_calls", "defects", "defect", "info", reason)


def _report_defect(found: DefectFinding, *, is_strict: bool) -> Finding:
    kind, severity = _LEVELS[found.level]
    where = "agent_run.final_output" if found.message is None else f"agent_run.messages[{found.message}]"
    place = {} if found.call is None else {"call": f"agent_run.tool_calls[{found.call}]"}
    evidence = {"said": found.said, "seen": found.seen, **place}
    kind = kind if is_strict else "defect"
    return build_audit_finding(
        f"defects.{found.rule}", "defects", kind, severity, found.reason, where, evidence
    )


def _build_audited_run(state: EvaluationState) -> AuditedRun:
    run = state["agent_run"]
    return AuditedRun(
        context=build_context(state),
        actions=state["actual_trajectory"] if "tool_calls" in run else None,
    )


def _find_exposures(state: EvaluationState, audit: AuditRules, plugins: Plugins) -> list[Finding]:
    # The quick test covers the whole case, but only with the built-in search.
    if not (state.get("may_be_sensitive", True) or plugins.recognizers):
        return []
    reactions: dict[Category, Reaction]
    reactions = {"credential": audit.credentials, "personal": audit.personal_data}
    failures: dict[str, str] = {}
    search = build_search(plugins.recognizers, failures)
    findings = exposure_findings(state["agent_run"], reactions, search)
    return [*findings, *(_report_failure(name, cause) for name, cause in failures.items())]


def _report_failure(recognizer: str, cause: str) -> Finding:
    reason = f"the recogniser {recognizer} failed with {cause}; only the built-in search is complete"
    action = "Repair the recogniser and evaluate again."
    name = f"recognizer.{recognizer}"
    return build_audit_finding(name, "privacy", "metric_error", "warning", reason, action=action)
