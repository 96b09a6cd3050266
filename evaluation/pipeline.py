"""The nodes of an evaluation in their order: what the graph wires and the fast path calls."""

from __future__ import annotations

from asyncio import to_thread
from collections.abc import Mapping
from typing import Final, Literal, Protocol

from typing_extensions import TypedDict

from evaluation.nodes.audit_requirements import audit_requirements
from evaluation.nodes.decide_evaluation_status import decide_evaluation_status
from evaluation.nodes.decide_judge_need import decide_judge_need
from evaluation.nodes.detect_regressions_and_anomalies import detect_regressions_and_anomalies
from evaluation.nodes.evaluate_trajectory import evaluate_trajectory
from evaluation.nodes.finalize_report import finalize_report
from evaluation.nodes.prepare_evaluation import prepare_evaluation
from evaluation.nodes.run_rubric_judge import arun_rubric_judge, run_rubric_judge
from evaluation.nodes.score_operational_metrics import score_operational_metrics
from evaluation.nodes.score_response_quality import score_response_quality
from evaluation.nodes.validate_judge_result import validate_judge_result
from evaluation.plugins import Plugins
from evaluation.results.state import EvaluationState, EvaluationStatus
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


class Node(Protocol):
    """One node: reads the state and returns its update."""

    def __call__(self, state: EvaluationState, plugins: Plugins) -> EvaluationState:
        """Compute the update."""
        ...


MEASURING: Final[Mapping[str, Node]] = {
    "score_response_quality": score_response_quality,
    "score_operational_metrics": score_operational_metrics,
    "evaluate_trajectory": evaluate_trajectory,
    "audit_requirements": audit_requirements,
    "decide_judge_need": decide_judge_need,
}
CONCLUDING: Final[Mapping[str, Node]] = {
    "detect_regressions_and_anomalies": detect_regressions_and_anomalies,
    "decide_evaluation_status": decide_evaluation_status,
}
NODES: Final[Mapping[str, Node]] = {
    **MEASURING,
    "validate_judge_result": validate_judge_result,
    **CONCLUDING,
    "finalize_report": finalize_report,
}
"""The nodes that read a state; the first one reads a case, and the judge's has an async form."""


def run_pipeline(given: object, plugins: Plugins) -> EvaluationState:
    """Run one case through the nodes; the final state is the graph's."""
    state = _measured(given, plugins)
    if _asks(state):
        state = {**state, **run_rubric_judge(state, plugins)}
    return _concluded(state, plugins)


async def arun_pipeline(given: object, plugins: Plugins) -> EvaluationState:
    """Run one case through the nodes without blocking the loop while a judge or an embedder answers."""
    state = await _ameasured(given, plugins)
    if _asks(state):
        state = {**state, **await arun_rubric_judge(state, plugins)}
    return _concluded(state, plugins)


def _measured(given: object, plugins: Plugins) -> EvaluationState:
    state = prepare_evaluation(given, plugins)
    if after_preparation(state) == "finalize_report":
        return state
    for node in MEASURING.values():
        state = {**state, **node(state, plugins)}
    return state


async def _ameasured(given: object, plugins: Plugins) -> EvaluationState:
    """Measure on the loop, unless an embedder is asked: that one may wait for somebody."""
    waits = plugins.embedder is not None
    return await to_thread(_measured, given, plugins) if waits else _measured(given, plugins)


def _asks(state: EvaluationState) -> bool:
    return bool(state["judge_decision"]) and after_decision(state) == "run_rubric_judge"


def _concluded(state: EvaluationState, plugins: Plugins) -> EvaluationState:
    if _asks(state):
        state = {**state, **validate_judge_result(state, plugins)}
    if state["evaluation_status"] != "invalid":
        for node in CONCLUDING.values():
            state = {**state, **node(state, plugins)}
    return {**state, **finalize_report(state, plugins)}
