"""Nodes: decide if a judge is needed, compare with the baseline, raise alerts, and build the report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, Literal

from evaluation.contract.contract import AUDIT_METRICS
from evaluation.findings import STATUS, UNVERIFIED, Finding, Group, build_group, strictest_status
from evaluation.measures.drift_signals import compare_with_baseline, read_measurements
from evaluation.measures.metric_table import DIRECTIONS, METRICS, Direction
from evaluation.plugins import Plugins
from evaluation.report.redaction import Redactor, build_excerpt
from evaluation.report.report_model import (
    SCHEMA_VERSION,
    Alert,
    EvaluationState,
    PreparedState,
    describe_check,
    raise_alert,
)
from evaluation.values import JsonObject

NOTHING_ASKED: Final = "the contract contains no check"
NOTHING_DECIDES: Final = (
    "no check of the contract has an answer, or each only informs, as severity info and fewer than five "
    "earlier runs do; give a check the severity warning or critical, or give a tolerance in 'drift'"
)


def metric_groups(state: PreparedState) -> dict[str, JsonObject]:
    """Return the metric groups by name, in the order of the report."""
    return {
        "response": state["response_metrics"],
        "operational": state["operational_metrics"],
        "trajectory": state["trajectory_metrics"],
    }


def select_findings(state: PreparedState, *groups: Group) -> list[Finding]:
    """List the findings of groups, in the order of the nodes."""
    return [finding for finding in state["findings"] if finding.group in groups]


def has_any_demand(state: PreparedState) -> bool:
    """Return whether the contract contains any demand. A run with nothing to check cannot pass."""
    return bool(state["baseline_metrics"] or state["demands"].requirements)


def _rule_severities(state: PreparedState) -> list[object]:
    # The search that nobody asked for can refuse a run, and answers no question of the caller.
    audited = [each for each in state["demands"].requirements if each.field.startswith("audit.")]
    bounds = [bound for name, bound in state["thresholds"].items() if name in AUDIT_METRICS]
    stated = [bound.get("severity", "critical") for bound in bounds]
    return [*(each.severity or "critical" for each in audited), *stated]


def has_ended_early(state: PreparedState) -> bool:
    """Return whether the run has no whole output, so that there is nothing more to ask about it."""
    return any(finding.ends_early for finding in select_findings(state, "record"))


_CHECKED: Final[tuple[Group, ...]] = ("response", "operational", "trajectory")


def decide_judge_need(state: PreparedState, plugins: Plugins) -> EvaluationState:
    """Ask for a judge if a rubric or a subjective criterion is given, or if a check is inconclusive."""
    has_judge = plugins.judge is not None or state["fake_judge_response"] is not None
    needed, reason = _decide_need(state, has_judge=has_judge)
    return {"judge_decision": {"needed": needed, "called": False, "reason": reason}}


def after_decision(
    state: PreparedState,
) -> Literal["run_rubric_judge", "detect_regressions_and_anomalies"]:
    """Call the judge only if it is needed."""
    needed = state["judge_decision"].get("needed") is True
    return "run_rubric_judge" if needed else "detect_regressions_and_anomalies"


def _decide_need(state: PreparedState, *, has_judge: bool) -> tuple[bool, str]:
    if has_ended_early(state):
        return False, "the run has no whole output"
    request, when = _find_request(state), state["demands"].rules.judge.when
    if request is not None and (when == "always" or not _has_failed(state)):
        return True, request
    # A run that fails anyway needs no judge, whose call costs time and money.
    question = None if _has_failed(state) else _find_open_question(state)
    if question is None:
        return False, "the deterministic checks are conclusive"
    return has_judge, question if has_judge else f"{question}, and no judge is configured"


def _find_request(state: PreparedState) -> str | None:
    if state["demands"].rules.rubric is not None:
        return "a rubric is configured"
    if state["demands"].rules.subjective_criteria:
        return "subjective criteria are configured"
    return "a threshold on judge_score is configured" if "judge_score" in state["thresholds"] else None


def _has_failed(state: PreparedState) -> bool:
    """Return whether an audit finding or a check fails the run regardless of all else."""
    severe = [each for each in select_findings(state, "audit", *_CHECKED) if each.severity == "critical"]
    return any(each.group == "audit" or each.passed is False for each in severe)


def _find_open_question(state: PreparedState) -> str | None:
    """Return why a check is inconclusive; None if all are conclusive."""
    findings = select_findings(state, *_CHECKED)
    if not has_any_demand(state):
        return NOTHING_ASKED
    # A baseline may decide: it is compared after the judge.
    severities = {*_rule_severities(state), *(finding.severity for finding in findings)}
    if severities == {"info"} and not state["baseline_metrics"]:
        return NOTHING_DECIDES
    return next((finding.reason for finding in findings if finding.kind == "inconclusive"), None)


def detect_regressions_and_anomalies(state: PreparedState, plugins: Plugins) -> EvaluationState:  # noqa: ARG001
    """Compare with the baseline, and raise an alert for every finding that did not pass."""
    signals, compared = _compare_baseline(state)
    findings = [*state["findings"], *_find_unanswered(state, signals), *compared]
    return {"drift_signals": signals, "findings": findings, "alerts": _list_alerts(state, findings)}


def _compare_baseline(state: PreparedState) -> tuple[JsonObject, list[Finding]]:
    baseline = state["baseline_metrics"]
    if baseline is None:
        return {"status": "not_applicable", "reason": "there is no baseline", "signals": []}, []
    rules = state["demands"].rules.drift
    run = {"metrics": metric_groups(state), "judge": {"result": state["judge_result"]}}
    current = read_measurements(run, METRICS)
    resources: dict[str, Direction] = {name: "lower" for name in current if name not in METRICS}
    return compare_with_baseline(current, baseline, rules, {**DIRECTIONS, **resources})


_ORDER: Final = {"critical": 0, "warning": 1, "info": 2}
_GROUPS: Final[Mapping[Group, int]] = {
    name: place for place, name in enumerate(("audit", "record", *_CHECKED, "judge", "drift"))
}


def _find_unanswered(state: PreparedState, signals: JsonObject) -> Iterator[Finding]:
    """Report a run without any answered question that more than informs, which must not pass."""
    if has_ended_early(state):
        return
    findings = select_findings(state, *_CHECKED, "judge")
    answered = [finding.severity for finding in findings if finding.passed is not None]
    is_decided = signals.get("decisive") or not {*_rule_severities(state), *answered} <= {"info"}
    is_asked = has_any_demand(state) or state["judge_result"] is not None
    if not (is_asked and is_decided):
        reason = NOTHING_DECIDES if is_asked else NOTHING_ASKED
        yield Finding("contract", "judge", None, "warning", "inconclusive", reason)


def _list_alerts(state: PreparedState, findings: Sequence[Finding]) -> list[Alert]:
    """List every alert of a run, the most severe first, then in the order of the report."""
    default_owner = state["demands"].rules.owner
    # A judge that has decided answers what the measures left open.
    is_judged = (state["judge_result"] or {}).get("passed") is not None
    # Not only False: a question without an answer must not look like a pass.
    failed = [
        each
        for each in findings
        if each.passed is not True
        and not (is_judged and each.kind == "inconclusive" and each.group != "judge")
    ]
    failed.sort(key=lambda finding: (_ORDER[finding.severity], _GROUPS[finding.group]))
    return [raise_alert(finding, default_owner) for finding in failed]


def decide_evaluation_status(state: PreparedState, plugins: Plugins) -> EvaluationState:  # noqa: ARG001
    """Take the strictest status that any alert asks for: no approval outweighs a failure."""
    kinds = ((alert["kind"], alert["severity"]) for alert in state["alerts"])
    return {"evaluation_status": strictest_status(kinds)}


_QUOTED: Final = 3
"""Number of reasons in a summary."""
_ADDED_FIELDS: Final = ("errors", "judge_decision", "judge_result")
"""Fields with data from outside that was added after the search of the case."""
_OUTSIDE_FIELDS: Final = (
    "input", "case_id", "run_metadata", "thresholds", "baseline_metrics",
    *_ADDED_FIELDS,
)  # fmt: skip
"""Fields with data from outside, besides the contract, and the run, which the audit has searched."""


def finalize_report(state: PreparedState, plugins: Plugins) -> EvaluationState:
    """Build the report and redact all that it quotes."""
    is_harmless = not (state["suspects"] or plugins.recognizers)
    # A judge's answer and the errors came after the search of the case, so they are searched in any case.
    added = _ADDED_FIELDS if state["judge_result"] is not None else ("errors",)
    # A graph that goes on from a stored state has lost what the audit found.
    run = () if "sensitive" in state else ("agent_run",)
    sources = [
        *filter(None, map(state.get, added if is_harmless else (*run, *_OUTSIDE_FIELDS))),
        *([] if is_harmless else [state["demands"].plain]),
        # What the user's code said, for instance the text of an exception.
        *(
            [finding.observed, finding.limit, finding.reason, finding.evidence]
            for finding in state["findings"]
            if finding.origin == "function"
        ),
    ]
    # Built of all values before any is redacted: one part of a run may give away a value in another.
    redactor = Redactor.of(sources, plugins.recognizers, state.get("sensitive", ()))
    report: Any = redactor.clean(build_report(state))
    return {"alerts": report["alerts"], "errors": report["errors"], "evaluation_report": report}


def build_report(state: PreparedState) -> JsonObject:
    """Build the report of a state."""
    decision, alerts = state["judge_decision"], state["alerts"]
    failures = [each["reason"] for each in alerts if STATUS[each["kind"]][each["severity"]] != "passed"]
    output = state["actual_output"]
    is_given = "final_output" in state["agent_run"]
    return {
        "schema_version": SCHEMA_VERSION,
        "status": state["evaluation_status"],
        "summary": _summarize(state, failures),
        "input": state["input"],
        "case_id": state["case_id"],
        "checks": [describe_check(finding) for finding in state["findings"] if finding.check],
        "metrics": {name: values or build_group({}, []) for name, values in metric_groups(state).items()},
        "audit_findings": state["audit_findings"],
        "judge": {
            "needed": decision.get("needed", False),
            "called": decision.get("called", False),
            "reason": decision.get("reason", "the case was not evaluated"),
            "usage": decision.get("usage", {}),
            "result": state["judge_result"],
        },
        "drift_signals": state["drift_signals"],
        "alerts": alerts,
        "failures": failures,
        "evidence": [{"of": "final_output", **build_excerpt(output)}] if is_given else [],
        "errors": state["errors"],
        "recommended_action": alerts[0]["recommended_action"] if alerts else "No action needed.",
    }


def _summarize(state: PreparedState, failures: Sequence[str]) -> str:
    status = state["evaluation_status"]
    if not failures:
        return f"{status}: {_count_checks(state)}"
    more = len(failures) - _QUOTED
    rest = f" And {more} more." if more > 0 else ""
    return f"{status}: {' '.join(failures[:_QUOTED])}{rest}"


def _count_checks(state: PreparedState) -> str:
    checks = select_findings(state, *_CHECKED)
    judge = "the judge" if state["judge_decision"].get("called") else "a fake judge response"
    judged = f", {judge} approved" if (state["judge_result"] or {}).get("passed") is True else ""
    if not (checks or judged):
        return UNVERIFIED
    return f"{len(checks)} check{'' if len(checks) == 1 else 's'}, none failed{judged}"
