"""The conditional edges of the evaluation graph."""

from __future__ import annotations

from typing import Literal

from evaluation.state import EvaluationState


def after_preparation(state: EvaluationState) -> Literal["score_response_quality", "finalize_report"]:
    """Evaluate a case that is whole; report at once on one that is not."""
    return "finalize_report" if state["evaluation_status"] == "invalid" else "score_response_quality"


def after_decision(
    state: EvaluationState,
) -> Literal["run_rubric_judge", "detect_regressions_and_anomalies"]:
    """Call the judge only where one is needed."""
    needed = state["judge_decision"].get("needed") is True
    return "run_rubric_judge" if needed else "detect_regressions_and_anomalies"
