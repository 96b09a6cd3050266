"""Nodes: decide whether a judge is needed, ask it, and turn its answer into outcomes."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from typing import Any, cast

from agents.sync import Call, Conversation
from evaluation.contract.contract import Rubric
from evaluation.errors import JudgeError
from evaluation.findings import Finding
from evaluation.judges.judge_call import (
    JudgeScore,
    aask_judge,
    add_cost,
    ask_judge,
    build_request,
    choose_rubric,
    copy_json_object,
    format_answer,
    read_judge_result,
)
from evaluation.plugins import Plugins
from evaluation.report.metric_groups import compare_with_bound, describe_comparison
from evaluation.report.report_model import end_sentence
from evaluation.report.state import (
    NOTHING_ASKED,
    NOTHING_DECIDES,
    EvaluationState,
    breaks_audit,
    has_any_demand,
    has_ended_early,
    only_informs,
    read_demands,
    select_findings,
)
from evaluation.sensitive.scanner import describe_error
from evaluation.values import JsonObject, Severity, format_numbers


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


def run_rubric_judge(state: EvaluationState, plugins: Plugins) -> Conversation[EvaluationState]:
    """Ask the judge; an exception is stored as a failure of the judge."""
    decision = {**state["judge_decision"], "called": plugins.judge is not None}
    if plugins.judge is None and state["fake_judge_response"] is not None:
        decision["reason"] = f"{decision['reason']}; the answer is the fake_judge_response of the case"
    try:
        if plugins.judge is None:
            answer = _take_fake_answer(state)
        else:
            asked = plugins.judge, build_request(state)
            answer = yield Call(partial(ask_judge, *asked), partial(aask_judge, *asked))
        return {"judge_decision": decision, "judge_result": {"answer": format_answer(answer)}}
    except Exception as error:  # noqa: BLE001 - a judge is the user's code and may raise anything
        return {"judge_decision": decision, "judge_result": {"failure": _describe_failure(error)}}


def _take_fake_answer(state: EvaluationState) -> object:
    if state["fake_judge_response"] is None:
        raise JudgeError("a judge is needed and none is configured", "not_configured")
    return state["fake_judge_response"]


def _describe_failure(error: Exception) -> JsonObject:
    """Describe an error as JSON. Its text is shortened and redacted, since it may quote the run."""
    text = describe_error(error)
    if not isinstance(error, JudgeError):
        return {"kind": "provider_failure", "message": f"{type(error).__name__}: {text}"}
    details = {"usage": copy_json_object(error.usage), "details": copy_json_object(error.details)}
    return {"kind": error.kind, "message": text, **details}


def validate_judge_result(state: EvaluationState, plugins: Plugins) -> EvaluationState:
    """Check fields, types, bounds and rationale; a failed judge is an error of its own kind, never a pass."""
    rubric = choose_rubric(state)
    bounds = _list_bounds(state, rubric)
    try:
        score = _read_score(state, rubric, bounds)
    except JudgeError as error:
        update, usage = _report_failure(state, error), error.usage
    else:
        update, usage = _report_score(state, score, rubric, bounds), score.usage
    return {
        **update,
        "judge_decision": {**state["judge_decision"], "usage": dict(add_cost(usage, plugins.prices))},
    }


def _read_score(state: EvaluationState, rubric: Rubric, bounds: Iterable[JsonObject]) -> JudgeScore:
    result = state["judge_result"] or {}
    if "failure" in result:
        raise JudgeError(**cast("dict[str, Any]", result["failure"]))
    lowest = min(cast("float", bound.get("min", math.inf)) for bound in bounds)
    return read_judge_result(result.get("answer"), rubric, lowest)


def _report_failure(state: EvaluationState, error: JudgeError) -> EvaluationState:
    # At most a review by default: the failure of a judge says nothing about the agent.
    policy = read_demands(state).rules.judge
    severity: Severity = "critical" if policy.on_failure == "failed" else "warning"
    reason = f"judge: {error.kind}: {error}"
    result = {
        "status": "error",
        "passed": None,
        "failure": error.kind,
        "reason": str(error),
        "details": dict(error.details),
    }
    finding = Finding("judge_score", "judge", None, severity, "judge_error", reason)
    return {
        "judge_result": result,
        "findings": [*state["findings"], finding],
        "errors": [*state["errors"], reason],
    }


def _report_score(
    state: EvaluationState, score: JudgeScore, rubric: Rubric, bounds: Iterable[JsonObject]
) -> EvaluationState:
    findings = [_compare_with_bound(score, bound, rubric) for bound in bounds]
    result = {
        "status": "scored",
        "passed": all(finding.passed for finding in findings),
        "rubric": rubric.name,
        "pass_score": rubric.lowest_passing,
        "scale": rubric.scale.model_dump(),
        **score.model_dump(exclude={"usage"}),
    }
    return {"judge_result": result, "findings": [*state["findings"], *findings]}


def _list_bounds(state: EvaluationState, rubric: Rubric) -> list[JsonObject]:
    """List the bounds of the score; a minimum of the contract replaces the rubric's default."""
    bound = state["thresholds"].get("judge_score", {})
    is_default = rubric.pass_score is not None or "min" not in bound
    return [*([{"min": rubric.lowest_passing}] if is_default else []), *([bound] if bound else [])]


def _compare_with_bound(score: JudgeScore, bound: JsonObject, rubric: Rubric) -> Finding:
    finding = compare_with_bound("judge", "judge", "judge_score", score.score, bound, "critical")
    return finding if finding.passed else replace(finding, reason=_explain_refusal(score, bound, rubric))


def _explain_refusal(score: JudgeScore, bound: JsonObject, rubric: Rubric) -> str:
    value, required = describe_comparison(score.score, bound)
    low, high = format_numbers(rubric.scale.min, rubric.scale.max)
    points = format_numbers(*score.criteria.values())
    criteria = "; ".join(f"{name} {each}" for name, each in zip(score.criteria, points, strict=True))
    parts = (
        f"The judge gave {value} on a scale from {low} to {high}; the score must be {required}",
        score.rationale,
        criteria and f"By criterion: {criteria}",
        score.concerns and f"Concerns: {'; '.join(score.concerns)}",
        score.recommended_action,
    )
    # On one line, because readers print one alert a line.
    return " ".join(" ".join(end_sentence(part).split()) for part in parts if part)
