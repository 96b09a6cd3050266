"""The graph: the document's nodes and edges, and its drawing."""

import threading
from itertools import pairwise

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph

from agents.testing import ScriptedChatModel
from evaluation import EvaluationState, RubricJudge, build_evaluation_graph
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


THREAD = {"configurable": {"thread_id": "1"}}


async def test_an_awaited_graph_computes_on_the_loop():
    threads = []

    class Recognizer:
        name = "any"

        def find(self, text):
            threads.append(threading.get_ident())
            return []

    await build_evaluation_graph(recognizers=(Recognizer(),)).ainvoke(CASE)

    assert set(threads) == {threading.get_ident()}


class Tracer(BaseCallbackHandler):
    """Notes the names of the runs around each call of a model."""

    def __init__(self):
        self.runs = {}
        self.around_models = []

    def on_chain_start(self, serialized, inputs, *, run_id, parent_run_id=None, name=None, **_):
        self.runs[run_id] = (name, *self.runs.get(parent_run_id, ()))

    def on_chat_model_start(self, serialized, messages, *, run_id, parent_run_id=None, **_):
        self.around_models.append(self.runs[parent_run_id])


async def test_a_tracer_of_the_graph_sees_the_model_that_its_judge_calls():
    tracer = Tracer()
    judge = RubricJudge(ScriptedChatModel(['{"criteria": {"clarity": 5}, "rationale": "Fine."}']))
    await build_evaluation_graph(judge).ainvoke({**CASE, "rubric": RUBRIC}, {"callbacks": [tracer]})

    [around] = tracer.around_models
    assert around[-2:] == ("run_rubric_judge", "evaluation")


def test_a_checkpointer_keeps_the_state():
    graph = build_evaluation_graph(checkpointer=InMemorySaver())

    state = graph.invoke(CASE, THREAD)

    assert graph.get_state(THREAD).values["evaluation_report"] == state["evaluation_report"]


@pytest.mark.parametrize(("checkpointer", "kept"), [(None, True), (False, False)])
def test_false_keeps_nothing_with_the_graph_around(checkpointer, kept):
    around = StateGraph(EvaluationState, input_schema=dict)
    around.add_node("evaluation", build_evaluation_graph(checkpointer=checkpointer), input_schema=dict)
    around.add_edge(START, "evaluation")
    saver = InMemorySaver()

    around.compile(saver).invoke(CASE, THREAD)

    spaces = {found.config["configurable"]["checkpoint_ns"] for found in saver.list(THREAD)}
    assert (len(spaces) > 1) is kept
