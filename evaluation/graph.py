"""The evaluation as a LangGraph: reads as the drawing in the README."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeAlias, TypeVar, Unpack

from langchain_core.runnables import RunnableConfig, RunnableLambda
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph

from evaluation.nodes.prepare_evaluation import prepare_evaluation
from evaluation.nodes.run_rubric_judge import arun_rubric_judge, run_rubric_judge
from evaluation.pipeline import NODES, after_decision, after_preparation
from evaluation.plugins import AsyncJudge, Judge, PluginOptions, Plugins
from evaluation.results.state import EvaluationState

Given = TypeVar("Given")
Made = TypeVar("Made")


class Direct(RunnableLambda[Given, Made]):
    """A function that only computes: called at once, on the loop too, and without a trace of its own.

    A plain function would go to a thread where the graph is awaited, which takes longer than the function.
    It is a ``RunnableLambda`` because LangGraph reads the targets of a route from that one's function.
    """

    def __init__(self, function: Callable[[Given], Made]) -> None:
        async def awaited(value: Given) -> Made:
            return function(value)

        super().__init__(function, awaited)
        self._function = function

    def invoke(self, input: Given, config: RunnableConfig | None = None, **_: object) -> Made:  # noqa: A002, ARG002
        """Compute the result."""
        return self._function(input)

    async def ainvoke(self, input: Given, config: RunnableConfig | None = None, **_: object) -> Made:  # noqa: A002, ARG002
        """Compute the result, without leaving the loop."""
        return self._function(input)


EvaluationGraph: TypeAlias = CompiledStateGraph[EvaluationState, None, EvaluationState, EvaluationState]


def _waits(name: str, plugins: Plugins) -> bool:
    """Say whether a node may wait for somebody: an embedder is often a service."""
    return name == "score_response_quality" and plugins.embedder is not None


def build_evaluation_graph(
    judge: Judge | AsyncJudge | None = None,
    *,
    checkpointer: BaseCheckpointSaver[str] | bool | None = None,
    **options: Unpack[PluginOptions],
) -> EvaluationGraph:
    """Compile the evaluation graph.

    Args:
        judge: Who scores what no program can; without one, what needs a judge ends as ``needs_review``.
        checkpointer: Where states are kept; False: nowhere, not even with a graph around this one.
        options: What else is plugged in; see ``plugins.Plugins``.

    Returns:
        A graph that takes a case in the document's shape and ends with every field of ``EvaluationState``.
    """
    plugins = Plugins(judge, **options)
    # A plain dict as the input's type hands the whole case to the first node: fields that nobody knows are
    # refused there, where a channel a field would drop them without a word.
    graph: StateGraph[EvaluationState, None, EvaluationState, EvaluationState]
    graph = StateGraph(EvaluationState, input_schema=dict, output_schema=EvaluationState)  # type: ignore[arg-type]
    first = Direct(partial(prepare_evaluation, plugins=plugins))
    graph.add_node("prepare_evaluation", first, input_schema=dict)
    judging = RunnableLambda(
        partial(run_rubric_judge, plugins=plugins), partial(arun_rubric_judge, plugins=plugins)
    )
    graph.add_node("run_rubric_judge", judging)
    for name, node in NODES.items():
        bound = partial(node, plugins=plugins)
        graph.add_node(name, bound if _waits(name, plugins) else Direct(bound))

    graph.add_edge(START, "prepare_evaluation")
    graph.add_conditional_edges("prepare_evaluation", Direct(after_preparation))
    graph.add_edge("score_response_quality", "score_operational_metrics")
    graph.add_edge("score_operational_metrics", "evaluate_trajectory")
    graph.add_edge("evaluate_trajectory", "audit_requirements")
    graph.add_edge("audit_requirements", "decide_judge_need")
    graph.add_conditional_edges("decide_judge_need", Direct(after_decision))
    graph.add_edge("run_rubric_judge", "validate_judge_result")
    graph.add_edge("validate_judge_result", "detect_regressions_and_anomalies")
    graph.add_edge("detect_regressions_and_anomalies", "decide_evaluation_status")
    graph.add_edge("decide_evaluation_status", "finalize_report")
    graph.add_edge("finalize_report", END)
    return graph.compile(checkpointer, name="evaluation")
