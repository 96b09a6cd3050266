"""Node: whether anybody has to be asked what no program could settle."""

from __future__ import annotations

from evaluation.plugins import Plugins
from evaluation.results.state import EvaluationState
from evaluation.results.status import NOTHING_ASKED, has_any_demand, has_critical_finding, metric_outcomes


def decide_judge_need(state: EvaluationState, plugins: Plugins) -> EvaluationState:
    """Ask for a judge where a rubric or a subjective criterion is given, or where no check is conclusive."""
    asked = _asked_for(state)
    if asked is not None:
        return _decision(needed=True, reason=asked)
    unsettled = None if has_critical_finding(state) else _unsettled(state)
    if unsettled is None:
        return _decision(needed=False, reason="the deterministic checks are conclusive")
    if plugins.judge is None:
        return _decision(needed=False, reason=f"{unsettled}, and no judge is configured")
    return _decision(needed=True, reason=unsettled)


def _decision(*, needed: bool, reason: str) -> EvaluationState:
    return {"judge_decision": {"needed": needed, "called": False, "reason": reason}}


def _asked_for(state: EvaluationState) -> str | None:
    if state["rubric"] is not None:
        return "a rubric is configured"
    if state["contract"].get("subjective_criteria"):
        return "subjective criteria are configured"
    return "a threshold on judge_score is configured" if "judge_score" in state["thresholds"] else None


def _unsettled(state: EvaluationState) -> str | None:
    """Say what the checks leave open; nothing is open once one of them failed the run."""
    found = list(metric_outcomes(state))
    if any(one["passed"] is False and one["severity"] == "critical" for one in found):
        return None
    if not has_any_demand(state):
        return NOTHING_ASKED
    return next((one["reason"] for one in found if one["kind"] == "inconclusive"), None)
