"""The graph: the document's nodes and edges, and its drawing."""

from itertools import pairwise

import pytest

from evaluation import build_evaluation_graph
from evaluation.testing import ScriptedJudge

NODES = (
    "prepare_evaluation",
    "score_response_quality",
    "score_operational_metrics",
    "evaluate_trajectory",
    "audit_requirements",
    "decide_judge_need",
    "run_rubric_judge",
    "validate_judge_result",
    "detect_regressions_and_anomalies",
    "decide_evaluation_status",
    "finalize_report",
)
CASE = {"agent_run": {"tool_calls": ["a"]}, "expected_trajectory": ["a"]}
RUBRIC = {"criteria": [{"name": "clarity"}]}


def path(case, judge=None):
    graph = build_evaluation_graph(judge)
    return [name for update in graph.stream(case, stream_mode="updates") for name in update]


def test_the_graph_has_the_documents_nodes():
    assert set(build_evaluation_graph().get_graph().nodes) == {"__start__", *NODES, "__end__"}


def test_the_graph_has_the_documents_edges():
    edges = {(edge.source, edge.target) for edge in build_evaluation_graph().get_graph().edges}
    straight = ("__start__", *NODES, "__end__")

    assert edges == {
        *pairwise(straight),
        ("prepare_evaluation", "finalize_report"),
        ("decide_judge_need", "detect_regressions_and_anomalies"),
    }


def test_a_case_without_subjective_questions_goes_around_the_judge():
    assert path(CASE) == [name for name in NODES if name not in {"run_rubric_judge", "validate_judge_result"}]


def test_a_rubric_leads_through_the_judge():
    judge = ScriptedJudge([{"score": 5, "rationale": "Fine."}])

    assert path({**CASE, "rubric": RUBRIC}, judge) == list(NODES)


def test_a_malformed_answer_goes_on_to_the_rest():
    assert path({**CASE, "rubric": RUBRIC}, ScriptedJudge(["?"])) == list(NODES)


@pytest.mark.parametrize("case", [{}, {"agent_run": None}, {"unknown": 1, **CASE}])
def test_an_invalid_case_goes_straight_to_the_report(case):
    assert path(case) == ["prepare_evaluation", "finalize_report"]
