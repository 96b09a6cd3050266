"""Node: decides whether a judge has to be asked."""

from __future__ import annotations

from collections.abc import Iterable

from evaluation.inputs.rubric import JudgePolicy
from evaluation.judges.judge_call import choose_judge
from evaluation.plugins import Plugins
from evaluation.results.findings import MetricOutcome
from evaluation.results.state import EvaluationState
from evaluation.results.status import (
    NOTHING_ASKED,
    NOTHING_DECIDES,
    has_any_demand,
    has_critical_finding,
    has_ended_early,
    metric_outcomes,
    only_informs,
)


def decide_judge_need(state: EvaluationState, plugins: Plugins) -> EvaluationState:
    """Ask for a judge if a rubric or a subjective criterion is given, or if a check is inconclusive."""
    if has_ended_early(state):
        return _decision(needed=False, reason="the run has no whole output")
    request = _find_request(state)
    if request is not None and not _is_spared(state):
        return _decision(needed=True, reason=request)
    # A run that fails anyway needs no judge, whose call costs time and money.
    question = None if has_critical_finding(state) else _find_open_question(state)
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
    if state["contract"].get("subjective_criteria"):
        return "subjective criteria are configured"
    return "a threshold on judge_score is configured" if "judge_score" in state["thresholds"] else None


def _is_spared(state: EvaluationState) -> bool:
    """Return whether the judge is asked only about runs that pass the checks, and this one does not."""
    policy = JudgePolicy.model_validate(state["contract"].get("judge", {}))
    return policy.when == "if_checks_pass" and (
        _fails_check(metric_outcomes(state)) or has_critical_finding(state)
    )


def _fails_check(outcomes: Iterable[MetricOutcome]) -> bool:
    return any(outcome["passed"] is False and outcome["severity"] == "critical" for outcome in outcomes)


def _find_open_question(state: EvaluationState) -> str | None:
    """Return why a check is inconclusive; None if all are conclusive or one already fails the run."""
    outcomes = metric_outcomes(state)
    if _fails_check(outcomes):
        return None
    if not has_any_demand(state):
        return NOTHING_ASKED
    # A baseline may decide: it is compared after the judge.
    if only_informs(state, outcomes) and not state["baseline_metrics"]:
        return NOTHING_DECIDES
    return next((outcome["reason"] for outcome in outcomes if outcome["kind"] == "inconclusive"), None)
