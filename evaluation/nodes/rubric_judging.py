"""Nodes: decide whether a judge is needed, ask it, and turn its answer into outcomes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from evaluation.contract.contract import Rubric
from evaluation.findings import Finding
from evaluation.judges.judge_call import (
    JudgeFailure,
    JudgeScore,
    acall_judge,
    add_cost,
    build_request,
    call_judge,
    choose_judge,
    choose_rubric,
    copy_json_object,
    read_judge_result,
    refuse_approval,
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
    if choose_judge(state, plugins.judge) is None:
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


def run_rubric_judge(state: EvaluationState, plugins: Plugins) -> EvaluationState:
    """Ask the judge; an exception is stored as a failure of the judge."""
    return _store_answer(state, plugins, call_judge(choose_judge(state, plugins.judge), build_request(state)))


async def arun_rubric_judge(state: EvaluationState, plugins: Plugins) -> EvaluationState:
    """Ask the judge without blocking the event loop."""
    judge = choose_judge(state, plugins.judge)
    return _store_answer(state, plugins, await acall_judge(judge, build_request(state)))


def _store_answer(state: EvaluationState, plugins: Plugins, answer: str | JudgeFailure) -> EvaluationState:
    decision = {**state["judge_decision"], "called": plugins.judge is not None}
    if plugins.judge is None and state["fake_judge_response"] is not None:
        decision["reason"] = f"{decision['reason']}; the answer is the fake_judge_response of the case"
    result = {"failure": _plain_failure(answer)} if isinstance(answer, JudgeFailure) else {"answer": answer}
    return {"judge_decision": decision, "judge_result": result}


def _plain_failure(failure: JudgeFailure) -> JsonObject:
    """Convert a failure to JSON; an error of a judge may carry any object."""
    return {
        "kind": failure.kind,
        "reason": failure.reason,
        "usage": copy_json_object(failure.usage),
        "details": copy_json_object(failure.details),
    }


def validate_judge_result(state: EvaluationState, plugins: Plugins) -> EvaluationState:
    """Check fields, types, bounds and rationale; a failed judge is an error of its own kind, never a pass."""
    rubric = choose_rubric(state)
    answer = _refuse_objection(state, _read_answer(state["judge_result"] or {}, rubric), rubric)
    usage = dict(add_cost(answer.usage, plugins.prices))
    if isinstance(answer, JudgeFailure):
        update = _report_failure(state, answer)
    else:
        update = _report_score(state, answer, rubric)
    return {**update, "judge_decision": {**state["judge_decision"], "usage": usage}}


def _read_answer(result: JsonObject, rubric: Rubric) -> JudgeScore | JudgeFailure:
    failure = result.get("failure")
    if isinstance(failure, Mapping):
        return JudgeFailure(**failure)
    return read_judge_result(result.get("answer"), rubric)


def _refuse_objection(
    state: EvaluationState, answer: JudgeScore | JudgeFailure, rubric: Rubric
) -> JudgeScore | JudgeFailure:
    """Refuse an approval with an objection, also if only the contract's minimum makes it an approval."""
    if isinstance(answer, JudgeFailure) or answer.objection is None:
        return answer
    approves = all(finding.passed for finding in _compare_score(state, answer, rubric))
    return refuse_approval(answer, answer.score) if approves else answer


def _report_failure(state: EvaluationState, failure: JudgeFailure) -> EvaluationState:
    # At most a review by default: the failure of a judge says nothing about the agent.
    policy = read_demands(state).rules.judge
    severity: Severity = "critical" if policy.on_failure == "failed" else "warning"
    reason = f"judge: {failure.kind}: {failure.reason}"
    result = {
        "status": "error",
        "passed": None,
        "failure": failure.kind,
        "reason": failure.reason,
        "details": dict(failure.details),
    }
    finding = Finding("judge_score", "judge", None, severity, "judge_error", reason)
    return {
        "judge_result": result,
        "findings": [*state["findings"], finding],
        "errors": [*state["errors"], reason],
    }


def _report_score(state: EvaluationState, score: JudgeScore, rubric: Rubric) -> EvaluationState:
    findings = _compare_score(state, score, rubric)
    result = {
        "status": "scored",
        "passed": all(finding.passed for finding in findings),
        "rubric": rubric.name,
        "pass_score": rubric.lowest_passing,
        "scale": rubric.scale.model_dump(),
        **score.model_dump(exclude={"usage", "objection"}),
    }
    return {"judge_result": result, "findings": [*state["findings"], *findings]}


def _compare_score(state: EvaluationState, score: JudgeScore, rubric: Rubric) -> list[Finding]:
    """Compare the score with what passes; a minimum of the contract replaces the rubric's default."""
    bound = state["thresholds"].get("judge_score", {})
    default = {"min": rubric.lowest_passing} if rubric.pass_score is not None or "min" not in bound else {}
    return [_compare_with_bound(score, each, rubric) for each in (default, bound) if each]


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
