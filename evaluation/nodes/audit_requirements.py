"""Node: checks the audit rules, and searches for credentials and personal data."""

from __future__ import annotations

from typing import Final

from evaluation.inputs.contract import AUDIT_METRICS, AuditRules, Reaction
from evaluation.metrics.audit_rules import AuditedRun, check_shares, exposure_findings, rule_findings
from evaluation.nodes.score_response_quality import build_context
from evaluation.plugins import Plugins
from evaluation.results.findings import AuditFinding, build_finding
from evaluation.results.state import EvaluationState
from evaluation.sensitive.scanner import build_search
from evaluation.sensitive.spans import Category
from evaluation.values import JsonObject, as_object

_NO_RULES: Final = AuditRules()


def audit_requirements(state: EvaluationState, plugins: Plugins) -> EvaluationState:
    """Find breaches of the contract's audit rules, and credentials and personal data."""
    rules = state["contract"].get("audit")
    audit = AuditRules.model_validate(rules) if rules else _NO_RULES
    breaches = rule_findings(audit.rules, _build_audited_run(state)) if audit.rules else []
    findings = [*breaches, *_find_exposures(state, audit, plugins)]
    thresholds = state["thresholds"]
    asked = thresholds.keys() - as_object(state["run_metadata"].get("resources")).keys()
    bounds: dict[str, JsonObject] = {name: thresholds[name] for name in AUDIT_METRICS if name in asked}
    searched = audit.credentials != "off"
    return {"audit_findings": [*findings, *check_shares(bounds, audit.rules, findings, searched=searched)]}


def _build_audited_run(state: EvaluationState) -> AuditedRun:
    run = state["agent_run"]
    return AuditedRun(
        context=build_context(state),
        messages=run.get("messages"),
        actions=state["actual_trajectory"] if "tool_calls" in run else None,
    )


def _find_exposures(state: EvaluationState, audit: AuditRules, plugins: Plugins) -> list[AuditFinding]:
    # The quick test covers the whole case, but only with the built-in search.
    if not (state.get("may_be_sensitive", True) or plugins.recognizers):
        return []
    reactions: dict[Category, Reaction]
    reactions = {"credential": audit.credentials, "personal": audit.personal_data}
    failures: dict[str, str] = {}
    search = build_search(plugins.recognizers, failures)
    findings = exposure_findings(state["agent_run"], reactions, search)
    return [*findings, *(_report_failure(name, cause) for name, cause in failures.items())]


def _report_failure(recognizer: str, cause: str) -> AuditFinding:
    reason = f"the recogniser {recognizer} failed with {cause}; only the built-in search is complete"
    action = "Repair the recogniser and evaluate again."
    name = f"recognizer.{recognizer}"
    return build_finding(name, "privacy", "metric_error", "warning", reason, "agent_run", action)
