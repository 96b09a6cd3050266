"""The conditional edges of the evaluation graph."""

from __future__ import annotations

from typing import Literal

from typing_extensions import TypedDict

from evaluation.results.state import EvaluationStatus
from evaluation.values import JsonObject


class Prepared(TypedDict, total=False):
    """What the first route reads; the engine copies for a route every field that it names."""

    evaluation_status: EvaluationStatus


class Decided(TypedDict, total=False):
    """What the second route reads."""

    judge_decision: JsonObject


def after_preparation(state: Prepared) -> Literal["score_response_quality", "finalize_report"]:
    """Evaluate a case that is whole; report at once on one that is not."""
    return "finalize_report" if state["evaluation_status"] == "invalid" else "score_response_quality"


def after_decision(
    state: Decided,
) -> Literal["run_rubric_judge", "detect_regressions_and_anomalies"]:
    """Call the judge only where one is needed."""
    needed = state["judge_decision"].get("needed") is True
    return "run_rubric_judge" if needed else "detect_regressions_and_anomalies"
