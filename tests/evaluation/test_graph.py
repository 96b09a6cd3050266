import threading
from itertools import pairwise

from langchain_core.callbacks import BaseCallbackHandler
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from typing_extensions import TypedDict

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


def test_the_graph_has_the_documents_edges():
    edges = {(edge.source, edge.target) for edge in build_evaluation_graph().get_graph().edges}
    straight = ("__start__", *NODES, "__end__")

    assert edges == {
        *pairwise(straight),
        ("prepare_evaluation", "finalize_report"),
        ("decide_judge_need", "detect_regressions_and_anomalies"),
    }


CASES = {
    "passed": {**CASE, "keywords": []},
    "failed": {**CASE, "expected_trajectory": ["b"]},
    "no demand": {"agent_run": {"messages": [{"role": "user", "content": "q"}]}},
    "content": {"agent_run": {"final_output": "x", "latency_ms": 3}, "required_content": [{"text": "y"}]},
    "a threshold": {"agent_run": {"final_output": "x"}, "thresholds": {"latency_ms": 5}, "case_id": "c"},
    "a rubric": {"agent_run": {"final_output": "x"}, "rubric": RUBRIC},
    "invalid": {"agent_run": {"final_output": 3}},
}


class Larger(TypedDict, total=False):
    task: str
    messages: list
    contract: str
    errors: list
    agent_run: dict
    expected_trajectory: list
    evaluation_status: str


class Evaluated(EvaluationState, total=False):
    task: str
    required_content: list


def embed(state):
    graph = StateGraph(state)
    graph.add_node("evaluate", build_evaluation_graph())
    graph.add_edge(START, "evaluate")
    return graph.compile()


async def test_a_node_of_a_larger_graph_reads_the_case_and_leaves_out_the_rest(subtests):
    for actions in [["a"], ["b"]]:
        with subtests.test(actions=actions):
            case = {**CASE, "expected_trajectory": actions}
            alone = build_evaluation_graph().invoke(case)
            larger = {"task": "t", "messages": [], "contract": "12/7", **case}

            for result in (embed(Larger).invoke(larger), await embed(Larger).ainvoke(larger)):
                assert (result["evaluation_status"], result["errors"]) == (alone["evaluation_status"], [])
                assert result["contract"] == alone["contract"]


def test_a_graph_that_evaluates_twice_evaluates_the_new_run_by_the_same_contract():
    graph = embed(Evaluated)
    demand = {"required_content": [{"text": "x"}]}
    first = graph.invoke({"task": "t", "agent_run": {"final_output": "y"}, **demand})
    second = graph.invoke({**first, "agent_run": {"final_output": "x"}})

    assert (first["evaluation_status"], second["evaluation_status"]) == ("failed", "passed")


def test_the_final_state_of_an_evaluation_is_evaluated_as_its_case(subtests):
    for name, case in CASES.items():
        with subtests.test(name=name):
            graph = build_evaluation_graph()
            state = graph.invoke(case)

            assert graph.invoke(state)["evaluation_status"] == state["evaluation_status"]


def test_a_field_that_no_case_has_is_refused_outside_of_a_larger_graph():
    state = build_evaluation_graph().invoke({**CASE, "task": "t"})

    assert (state["evaluation_status"], len(state["errors"])) == ("invalid", 1)


def test_a_case_takes_the_nodes_that_it_needs(subtests):
    rubric = {**CASE, "rubric": RUBRIC}
    unjudged = [name for name in NODES if name not in {"run_rubric_judge", "validate_judge_result"}]
    invalid = [{}, {"agent_run": None}, {"unknown": 1, **CASE}]
    ends = ["prepare_evaluation", "finalize_report"]
    for case, nodes in [(CASE, unjudged), (rubric, list(NODES)), *((case, ends) for case in invalid)]:
        with subtests.test(case):
            assert path(case, ScriptedJudge([{"score": 5, "rationale": "Fine."}])) == nodes


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


def test_false_keeps_nothing_with_the_graph_around(subtests):
    for checkpointer, kept in [(None, True), (False, False)]:
        with subtests.test(checkpointer=checkpointer):
            inner = build_evaluation_graph(checkpointer=checkpointer)
            around = StateGraph(EvaluationState, input_schema=dict)
            around.add_node("evaluation", inner, input_schema=dict)
            around.add_edge(START, "evaluation")
            saver = InMemorySaver()

            around.compile(saver).invoke(CASE, THREAD)

            spaces = {found.config["configurable"]["checkpoint_ns"] for found in saver.list(THREAD)}
            assert (len(spaces) > 1) is kept
