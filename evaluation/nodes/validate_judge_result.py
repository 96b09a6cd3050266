"""Node: whether the judge's answer can be relied on, and what it says about the run."""

from __future__ import annotations

from collections.abc import Mapping

from evaluation.inputs.rules import JudgePolicy, Rubric, Severity
from evaluation.judges.failures import JudgeFailure
from evaluation.judges.rubrics import choose_rubric
from evaluation.judges.scores import REPAIRED_APPROVAL, JudgeScore, get_pass_score, read_judge_result
from evaluation.judges.usage import add_cost
from evaluation.plugins import Plugins
from evaluation.results.findings import MetricOutcome, build_outcome
from evaluation.results.state import EvaluationState
from evaluation.results.thresholds import compare_with_bound
from evaluation.values import JsonObject


def validate_judge_result(state: EvaluationState, plugins: Plugins) -> EvaluationState:
    """Check fields, types, bounds and rationale; a failed judge is an error of its own kind, never a pass."""
    rubric = choose_rubric(state)
    found = _usable(state, _read(state["judge_result"] or {}, rubric), rubric)
    usage = dict(add_cost(found.usage, plugins.prices))
    told = _failed(state, found) if isinstance(found, JudgeFailure) else _scored(state, found, rubric)
    return {**told, "judge_decision": {**state["judge_decision"], "usage": usage}}


def _read(result: JsonObject, rubric: Rubric) -> JudgeScore | JudgeFailure:
    failure = result.get("failure")
    if isinstance(failure, Mapping):
        return JudgeFailure(**failure)
    return read_judge_result(result.get("answer"), rubric)


def _usable(
    state: EvaluationState, found: JudgeScore | JudgeFailure, rubric: Rubric
) -> JudgeScore | JudgeFailure:
    """Refuse the approval of a repaired answer, by the contract's own minimum too."""
    if isinstance(found, JudgeFailure) or not found.repaired:
        return found
    approved = all(one["passed"] for one in _checks(state, found, rubric))
    return JudgeFailure("malformed", REPAIRED_APPROVAL, found.usage) if approved else found


def _failed(state: EvaluationState, failure: JudgeFailure) -> EvaluationState:
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


def _scored(state: EvaluationState, found: JudgeScore, rubric: Rubric) -> EvaluationState:
    checks = _checks(state, found, rubric)
    result = {
        "status": "scored",
        "passed": all(one["passed"] for one in checks),
        "rubric": rubric.name,
        "score": found.score,
        "pass_score": get_pass_score(rubric),
        "scale": {"min": rubric.scale.min, "max": rubric.scale.max},
        "criteria": dict(found.criteria),
        "rationale": found.rationale,
        "concerns": list(found.concerns),
        "recommended_action": found.recommended_action,
        "repaired": found.repaired,
        "details": dict(found.details),
        "checks": checks,
    }
    return {"judge_result": result}


def _checks(state: EvaluationState, found: JudgeScore, rubric: Rubric) -> list[MetricOutcome]:
    """Compare the score with what passes; a minimum of the contract stands in for the rubric's default."""
    bound = state["thresholds"].get("judge_score", {})
    least = {"min": get_pass_score(rubric)} if rubric.pass_score is not None or "min" not in bound else {}
    bounds = [one for one in (least, bound) if one]
    return [compare_with_bound("judge", "judge_score", found.score, one, "critical") for one in bounds]
