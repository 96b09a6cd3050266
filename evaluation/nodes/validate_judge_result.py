"""Node: checks the judge's answer and turns it into outcomes."""

from __future__ import annotations

from collections.abc import Mapping

from evaluation.inputs.rubric import JudgePolicy, Rubric
from evaluation.judges.answers import JudgeFailure, add_cost
from evaluation.judges.judge_call import choose_rubric
from evaluation.judges.judge_scores import JudgeScore, read_judge_result, refuse_approval
from evaluation.plugins import Plugins
from evaluation.results.alerts import end_sentence
from evaluation.results.findings import MetricOutcome, build_outcome
from evaluation.results.state import EvaluationState
from evaluation.results.thresholds import compare_with_bound, describe_comparison
from evaluation.values import JsonObject, Severity, format_numbers


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
    approves = all(outcome["passed"] for outcome in _compare_score(state, answer, rubric))
    return refuse_approval(answer, answer.score) if approves else answer


def _report_failure(state: EvaluationState, failure: JudgeFailure) -> EvaluationState:
    # At most a review by default: the failure of a judge says nothing about the agent.
    policy = JudgePolicy.model_validate(state["contract"].get("judge", {}))
    severity: Severity = "critical" if policy.on_failure == "failed" else "warning"
    reason = f"judge: {failure.kind}: {failure.reason}"
    result = {
        "status": "error",
        "passed": None,
        "failure": failure.kind,
        "reason": failure.reason,
        "details": dict(failure.details),
        "checks": [build_outcome("judge_error", "judge_score", None, severity, reason)],
    }
    return {"judge_result": result, "errors": [*state["errors"], reason]}


def _report_score(state: EvaluationState, score: JudgeScore, rubric: Rubric) -> EvaluationState:
    outcomes = _compare_score(state, score, rubric)
    result = {
        "status": "scored",
        "passed": all(outcome["passed"] for outcome in outcomes),
        "rubric": rubric.name,
        "pass_score": rubric.lowest_passing,
        "scale": rubric.scale.model_dump(),
        **score.model_dump(exclude={"usage", "objection"}),
        "checks": outcomes,
    }
    return {"judge_result": result}


def _compare_score(state: EvaluationState, score: JudgeScore, rubric: Rubric) -> list[MetricOutcome]:
    """Compare the score with what passes; a minimum of the contract replaces the rubric's default."""
    bound = state["thresholds"].get("judge_score", {})
    default = {"min": rubric.lowest_passing} if rubric.pass_score is not None or "min" not in bound else {}
    return [_compare_with_bound(score, each, rubric) for each in (default, bound) if each]


def _compare_with_bound(score: JudgeScore, bound: JsonObject, rubric: Rubric) -> MetricOutcome:
    outcome = compare_with_bound("judge", "judge_score", score.score, bound, "critical")
    return outcome if outcome["passed"] else {**outcome, "reason": _explain_refusal(score, bound, rubric)}


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
        score.unseen and f"The judge saw only a part of the run: {score.unseen}",
    )
    # On one line, because readers print one alert a line.
    return " ".join(" ".join(end_sentence(part).split()) for part in parts if part)
