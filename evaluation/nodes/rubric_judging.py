"""Nodes: decide whether a judge is needed, ask it, and turn its answer into outcomes."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, cast

from agents.sync import Conversation, call_either
from evaluation.contract.rubric import Rubric
from evaluation.errors import JudgeError
from evaluation.findings import Finding, compare_with_bound, describe_comparison
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
from evaluation.report.report_model import EvaluationState, PreparedState, end_sentence
from evaluation.sensitive.scanner import describe_error
from evaluation.values import JsonObject, Severity, format_numbers


def run_rubric_judge(state: PreparedState, plugins: Plugins) -> Conversation[EvaluationState]:
    """Ask the judge; an exception is stored as a failure of the judge."""
    decision = {**state["judge_decision"], "called": plugins.judge is not None}
    if plugins.judge is None and state["fake_judge_response"] is not None:
        decision["reason"] = f"{decision['reason']}; the answer is the fake_judge_response of the case"
    try:
        if plugins.judge is None:
            answer = _take_fake_answer(state)
        else:
            answer = yield call_either(ask_judge, aask_judge, plugins.judge, build_request(state))
        return {"judge_decision": decision, "judge_result": {"answer": format_answer(answer)}}
    except Exception as error:  # noqa: BLE001 - a judge is the user's code and may raise anything
        return {"judge_decision": decision, "judge_result": {"failure": _describe_failure(error)}}


def _take_fake_answer(state: PreparedState) -> object:
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


def validate_judge_result(state: PreparedState, plugins: Plugins) -> EvaluationState:
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


def _read_score(state: PreparedState, rubric: Rubric, bounds: Iterable[JsonObject]) -> JudgeScore:
    result = state["judge_result"] or {}
    if "failure" in result:
        raise JudgeError(**cast("dict[str, Any]", result["failure"]))
    lowest = min(cast("float", bound.get("min", math.inf)) for bound in bounds)
    return read_judge_result(result.get("answer"), rubric, lowest)


def _report_failure(state: PreparedState, error: JudgeError) -> EvaluationState:
    # At most a review by default: the failure of a judge says nothing about the agent.
    policy = state["demands"].rules.judge
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
    state: PreparedState, score: JudgeScore, rubric: Rubric, bounds: Iterable[JsonObject]
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


def _list_bounds(state: PreparedState, rubric: Rubric) -> list[JsonObject]:
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
