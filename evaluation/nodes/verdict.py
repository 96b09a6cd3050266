"""Nodes: decide if a judge is needed, compare with the baseline, raise alerts, and build the report."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from agents.credentials.detector import Span
from evaluation.contract.contract import AUDIT_METRICS
from evaluation.findings import STATUS, Finding, Group, build_group, strictest_status
from evaluation.measures.drift_signals import compare_with_baseline, read_measurements
from evaluation.measures.metric_table import DIRECTIONS, METRICS, Direction
from evaluation.plugins import Plugins
from evaluation.report.redaction import Redactor, build_excerpt
from evaluation.report.report_model import (
    SCHEMA_VERSION,
    Alert,
    EvaluationState,
    describe_check,
    metric_groups,
    raise_alert,
    read_demands,
    select_findings,
)
from evaluation.sensitive.scanner import Search, find_sensitive
from evaluation.values import JsonObject, as_list, as_object

NOTHING_ASKED: Final = "the contract contains no check"
NOTHING_DECIDES: Final = (
    "no check of the contract has an answer, or each only informs, as severity info and a single earlier run "
    "do; give a check the severity warning or critical, or give a tolerance in 'drift'"
)


def has_any_demand(state: EvaluationState) -> bool:
    """Return whether the contract contains any demand. A run with nothing to check cannot pass."""
    return bool(state["baseline_metrics"] or read_demands(state).requirements)


def is_decided(state: EvaluationState, findings: Iterable[Finding]) -> bool:
    """Return whether a question that more than informs is answered, or such an audit rule is given."""
    answered = [finding.severity for finding in findings if finding.passed is not None]
    return not {*_rule_severities(state), *answered} <= {"info"}


def only_informs(state: EvaluationState, findings: Iterable[Finding]) -> bool:
    """Return whether there are questions or audit rules, and all of them only inform."""
    return {*_rule_severities(state), *(finding.severity for finding in findings)} == {"info"}


def _rule_severities(state: EvaluationState) -> list[object]:
    thresholds, audit = state["thresholds"], read_demands(state).rules.audit
    bounds = [thresholds[name] for name in AUDIT_METRICS if name in thresholds]
    # The search that nobody asked for can refuse a run, and answers no question of the caller.
    searched = ["critical"] if audit.demands_defects else []
    severities = [rule.severity for rule in audit.rules]
    return [*searched, *severities, *(bound.get("severity", "critical") for bound in bounds)]


def breaks_audit(state: EvaluationState) -> bool:
    """Return whether an audit finding fails the run regardless of all else."""
    return any(finding.severity == "critical" for finding in select_findings(state, "audit"))


def has_ended_early(state: EvaluationState) -> bool:
    """Return whether the run has no whole output, so that there is nothing more to ask about it."""
    return any(finding.ends_early for finding in select_findings(state, "record"))


def decide_judge_need(state: EvaluationState, plugins: Plugins) -> EvaluationState:
    """Ask for a judge if a rubric or a subjective criterion is given, or if a check is inconclusive."""
    if has_ended_early(state):
        return _decision(needed=False, reason="the run has no whole output")
    request = _find_request(state)
    if request is not None and not _is_spared(state):
        return _decision(needed=True, reason=request)
    # A run that fails anyway needs no judge, whose call costs time and money.
    question = None if breaks_audit(state) else _find_open_question(state)
    if question is None:
        return _decision(needed=False, reason="the deterministic checks are conclusive")
    if plugins.judge is None and state["fake_judge_response"] is None:
        return _decision(needed=False, reason=f"{question}, and no judge is configured")
    return _decision(needed=True, reason=question)


def _decision(*, needed: bool, reason: str) -> EvaluationState:
    return {"judge_decision": {"needed": needed, "called": False, "reason": reason}}


def _find_request(state: EvaluationState) -> str | None:
    if state["rubric"] is not None:
        return "a rubric is configured"
    if read_demands(state).rules.subjective_criteria:
        return "subjective criteria are configured"
    return "a threshold on judge_score is configured" if "judge_score" in state["thresholds"] else None


def _is_spared(state: EvaluationState) -> bool:
    """Return whether the judge is asked only about runs that pass the checks, and this one does not."""
    policy = read_demands(state).rules.judge
    return policy.when == "if_checks_pass" and (_fails_check(_select_measured(state)) or breaks_audit(state))


def _select_measured(state: EvaluationState) -> list[Finding]:
    return select_findings(state, "response", "operational", "trajectory")


def _fails_check(findings: Iterable[Finding]) -> bool:
    return any(finding.passed is False and finding.severity == "critical" for finding in findings)


def _find_open_question(state: EvaluationState) -> str | None:
    """Return why a check is inconclusive; None if all are conclusive or one already fails the run."""
    findings = _select_measured(state)
    if _fails_check(findings):
        return None
    if not has_any_demand(state):
        return NOTHING_ASKED
    # A baseline may decide: it is compared after the judge.
    if only_informs(state, findings) and not state["baseline_metrics"]:
        return NOTHING_DECIDES
    return next((finding.reason for finding in findings if finding.kind == "inconclusive"), None)


def detect_regressions_and_anomalies(state: EvaluationState, plugins: Plugins) -> EvaluationState:  # noqa: ARG001
    """Compare with the baseline, and raise an alert for every finding that did not pass."""
    signals, compared = _compare_baseline(state)
    findings = [*state["findings"], *_find_unanswered(state, signals), *compared]
    return {"drift_signals": signals, "findings": findings, "alerts": _list_alerts(state, findings)}


def _compare_baseline(state: EvaluationState) -> tuple[JsonObject, list[Finding]]:
    baseline = state["baseline_metrics"]
    if baseline is None:
        return {"status": "not_applicable", "reason": "there is no baseline", "signals": []}, []
    rules = read_demands(state).rules.drift
    run = {"metrics": metric_groups(state), "judge": {"result": state["judge_result"]}}
    current = read_measurements(run, METRICS)
    resources: dict[str, Direction] = {name: "lower" for name in current if name not in METRICS}
    return compare_with_baseline(current, baseline, rules, {**DIRECTIONS, **resources})


_MEASURED: Final[tuple[Group, ...]] = ("response", "operational", "trajectory", "judge")
_ORDER: Final = {"critical": 0, "warning": 1, "info": 2}
_GROUPS: Final[Mapping[Group, int]] = {
    name: place for place, name in enumerate(("audit", "record", *_MEASURED, "drift"))
}


def _find_unanswered(state: EvaluationState, signals: JsonObject) -> Iterator[Finding]:
    """Report a run without any answered question, which must not pass."""
    if has_ended_early(state):
        return
    reason = None
    if not has_any_demand(state) and state["judge_result"] is None:
        reason = NOTHING_ASKED
    elif not (is_decided(state, select_findings(state, *_MEASURED)) or signals.get("decisive")):
        reason = NOTHING_DECIDES
    if reason is not None:
        yield Finding("contract", "judge", None, "warning", "inconclusive", reason)


def _list_alerts(state: EvaluationState, findings: Sequence[Finding]) -> list[Alert]:
    """List every alert of a run, the most severe first, then in the order of the report."""
    default_owner = read_demands(state).rules.owner
    # A judge that has decided answers what the measures left open.
    is_judged = (state["judge_result"] or {}).get("passed") is not None
    # Not only False: a question without an answer must not look like a pass.
    failed = [
        finding
        for finding in findings
        if finding.passed is not True and not (is_judged and _is_open_measure(finding))
    ]
    failed.sort(key=lambda finding: (_ORDER[finding.severity], _GROUPS[finding.group]))
    return [raise_alert(finding, default_owner) for finding in failed]


def _is_open_measure(finding: Finding) -> bool:
    return finding.kind == "inconclusive" and finding.group != "judge"


def decide_evaluation_status(state: EvaluationState, plugins: Plugins) -> EvaluationState:  # noqa: ARG001
    """Take the strictest status that any alert asks for: no approval outweighs a failure."""
    return {
        "evaluation_status": strictest_status((alert["kind"], alert["severity"]) for alert in state["alerts"])
    }


_QUOTED: Final = 3
"""Number of reasons in a summary."""
_NOTHING: Final = "No action needed."
_ADDED_FIELDS: Final = ("errors", "judge_decision", "judge_result")
"""Fields with data from outside that was added after the search of the case."""
_OUTSIDE_FIELDS: Final = (
    "input",
    "case_id",
    "agent_run",
    "run_metadata",
    "contract",
    "thresholds",
    "rubric",
    "baseline_metrics",
    *_ADDED_FIELDS,
)
"""Fields with data from outside."""


def finalize_report(state: EvaluationState, plugins: Plugins) -> EvaluationState:
    """Build the report and redact all that it quotes."""
    is_harmless = not (state.get("may_be_sensitive", True) or plugins.recognizers)
    # A judge's answer and the errors came after the search of the case, so they are searched in any case.
    added = _ADDED_FIELDS if state["judge_result"] is not None else ("errors",)
    sources = [
        *_outside_values(state, added if is_harmless else _OUTSIDE_FIELDS),
        # What the user's code said, for instance the text of an exception.
        *(
            [finding.observed, finding.limit, finding.reason, finding.evidence]
            for finding in state["findings"]
            if finding.origin == "function"
        ),
    ]
    # Built of all values before any is redacted: one part of a run may give away a value in another.
    redactor = Redactor.of(sources, plugins.recognizers)
    update: EvaluationState = {
        "alerts": state["alerts"],
        "errors": state["errors"],
        "evaluation_report": build_report(state),
    }
    return redactor.clean(update)


def _outside_values(state: EvaluationState, names: Iterable[str]) -> Iterator[object]:
    """Yield the data from outside; the run field by field, so that a search can skip harmless fields."""
    for name in names:
        value = state.get(name)
        if name == "agent_run" and isinstance(value, Mapping):
            yield from ({field: part} for field, part in value.items())
        elif value:
            yield value


def build_report(state: EvaluationState) -> JsonObject:
    """Build the report of a state."""
    # Nothing is found in a part of a case in which there is nothing.
    search = find_sensitive if state.get("may_be_sensitive", True) else _find_nothing
    failures = _failures(state)
    return {
        "schema_version": SCHEMA_VERSION,
        "status": state["evaluation_status"],
        "summary": _summarize(state, failures),
        "input": state["input"],
        "case_id": state["case_id"],
        "checks": [describe_check(finding) for finding in state["findings"] if finding.check],
        "metrics": {name: _quote_mismatches(values, search) for name, values in metric_groups(state).items()},
        "audit_findings": state["audit_findings"],
        "judge": _build_judge_report(state),
        "drift_signals": state["drift_signals"],
        "alerts": state["alerts"],
        "failures": failures,
        "evidence": _build_evidence(state, search),
        "errors": state["errors"],
        "recommended_action": state["alerts"][0]["recommended_action"] if state["alerts"] else _NOTHING,
    }


def _quote_mismatches(values: JsonObject, search: Search) -> JsonObject:
    """Return a metric group with its differing arguments quoted as evidence."""
    if not values:
        return build_group({}, [])
    mismatches = [
        {
            **fields,
            "expected": build_excerpt(fields.get("expected"), search=search),
            "actual": build_excerpt(fields.get("actual"), search=search),
        }
        for fields in map(as_object, as_list(values.get("argument_mismatches")))
    ]
    return {**values, "argument_mismatches": mismatches} if mismatches else values


def _build_judge_report(state: EvaluationState) -> JsonObject:
    decision, result = state["judge_decision"], state["judge_result"]
    return {
        "needed": decision.get("needed", False),
        "called": decision.get("called", False),
        "reason": decision.get("reason", "the case was not evaluated"),
        "usage": decision.get("usage", {}),
        "result": result,
    }


def _failures(state: EvaluationState) -> list[str]:
    """List the reasons of all alerts that keep the run from passing."""
    return [
        alert["reason"] for alert in state["alerts"] if STATUS[alert["kind"]][alert["severity"]] != "passed"
    ]


def _summarize(state: EvaluationState, failures: Sequence[str]) -> str:
    status = state["evaluation_status"]
    if not failures:
        return f"{status}: {_count_checks(state)}"
    more = len(failures) - _QUOTED
    rest = f" And {more} more." if more > 0 else ""
    return f"{status}: {' '.join(failures[:_QUOTED])}{rest}"


def _count_checks(state: EvaluationState) -> str:
    checks = select_findings(state, "response", "operational", "trajectory")
    judge = "the judge" if state["judge_decision"].get("called") else "a fake judge response"
    judged = f", {judge} approved" if (state["judge_result"] or {}).get("passed") is True else ""
    return f"{len(checks)} check{'' if len(checks) == 1 else 's'}, none failed{judged}"


def _build_evidence(state: EvaluationState, search: Search) -> list[object]:
    if "final_output" not in state["agent_run"]:
        return []
    output = state["actual_output"]
    is_recorded = state["agent_run"]["final_output"] == output
    search = search if is_recorded else find_sensitive
    return [{"of": "final_output", **build_excerpt(output, search=search)}]


def _find_nothing(text: str) -> tuple[Span, ...]:  # noqa: ARG001
    return ()
