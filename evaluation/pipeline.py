"""The table of the evaluation's nodes and routes, and the loop that runs it without a graph engine."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from typing_extensions import TypedDict

from evaluation.nodes.audit_requirements import audit_requirements
from evaluation.nodes.detect_regressions_and_anomalies import (
    decide_evaluation_status,
    detect_regressions_and_anomalies,
)
from evaluation.nodes.finalize_report import finalize_report
from evaluation.nodes.metric_scoring import evaluate_trajectory, score_operational_metrics
from evaluation.nodes.prepare_evaluation import prepare_evaluation
from evaluation.nodes.rubric_judging import (
    arun_rubric_judge,
    decide_judge_need,
    run_rubric_judge,
    validate_judge_result,
)
from evaluation.nodes.score_response_quality import ascore_response_quality, score_response_quality
from evaluation.plugins import Plugins
from evaluation.results.findings import EvaluationStatus
from evaluation.results.state import EvaluationState
from evaluation.values import JsonObject


class PreparedFields(TypedDict, total=False):
    """The field that ``after_preparation`` reads."""

    # LangGraph copies every field that the annotation of a route names, so each route names only its own.
    evaluation_status: EvaluationStatus


class DecisionFields(TypedDict, total=False):
    """The field that ``after_decision`` reads."""

    judge_decision: JsonObject


def after_preparation(state: PreparedFields) -> Literal["score_response_quality", "finalize_report"]:
    """Skip the evaluation of an invalid case."""
    return "finalize_report" if state["evaluation_status"] == "invalid" else "score_response_quality"


def after_decision(
    state: DecisionFields,
) -> Literal["run_rubric_judge", "detect_regressions_and_anomalies"]:
    """Call the judge only if it is needed."""
    needed = state["judge_decision"].get("needed") is True
    return "run_rubric_judge" if needed else "detect_regressions_and_anomalies"


@dataclass(frozen=True, slots=True)
class Node:
    """One row of the table."""

    run: Callable[[EvaluationState, Plugins], EvaluationState]
    """Reads the state and returns its update."""
    then: str | Callable[[EvaluationState], str]
    """The next node, or a function from the state to the next node."""
    arun: Callable[[EvaluationState, Plugins], Awaitable[EvaluationState]] | None = None
    """The same as ``run`` for a node that may wait for a service; None if the node only computes."""


FIRST: Final = "prepare_evaluation"
END: Final = "__end__"
"""LangGraph's name for the end. LangGraph is not imported here: that takes half a second."""

NODES: Final[Mapping[str, Node]] = {
    "prepare_evaluation": Node(prepare_evaluation, after_preparation),
    "score_response_quality": Node(
        score_response_quality, "score_operational_metrics", ascore_response_quality
    ),
    "score_operational_metrics": Node(score_operational_metrics, "evaluate_trajectory"),
    "evaluate_trajectory": Node(evaluate_trajectory, "audit_requirements"),
    "audit_requirements": Node(audit_requirements, "decide_judge_need"),
    "decide_judge_need": Node(decide_judge_need, after_decision),
    "run_rubric_judge": Node(run_rubric_judge, "validate_judge_result", arun_rubric_judge),
    "validate_judge_result": Node(validate_judge_result, "detect_regressions_and_anomalies"),
    "detect_regressions_and_anomalies": Node(detect_regressions_and_anomalies, "decide_evaluation_status"),
    "decide_evaluation_status": Node(decide_evaluation_status, "finalize_report"),
    "finalize_report": Node(finalize_report, END),
}


def run_pipeline(case: object, plugins: Plugins) -> EvaluationState:
    """Evaluate a case; the returned state equals the final state of the graph."""
    # The first node takes any object, and the others a state, so it runs before the loop.
    state, name = prepare_evaluation(case, plugins), FIRST
    while (name := _next_name(name, state)) != END:
        state = {**state, **NODES[name].run(state, plugins)}
    return state


async def arun_pipeline(case: object, plugins: Plugins) -> EvaluationState:
    """Evaluate a case without blocking the loop while a judge or a check answers."""
    state, name = prepare_evaluation(case, plugins), FIRST
    while (name := _next_name(name, state)) != END:
        node = NODES[name]
        update = await node.arun(state, plugins) if node.arun else node.run(state, plugins)
        state = {**state, **update}
    return state


def _next_name(name: str, state: EvaluationState) -> str:
    then = NODES[name].then
    return then if isinstance(then, str) else then(state)
