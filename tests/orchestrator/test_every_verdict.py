from __future__ import annotations

import asyncio
import time
from types import SimpleNamespace

import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph

from agents.testing import ScriptedChatModel
from evaluation import EvaluationContract, Price
from orchestrator import Budget
from tests.fakes.executor import AsyncModelExecutor, ModelExecutor, SynthesizingExecutor
from tests.fakes.monitor import FakeMonitor
from tests.fakes.runs import build
from tests.fakes.supervision import FakeSupervisor, SpeakingExecutor, met, missed

HAS_OUT = EvaluationContract(required_content=[{"text": "out"}])
PRICES = {"ScriptedChatModel": Price(input_usd=1e6, output_usd=1e6)}
TOKENS, MONEY = Budget(max_total_tokens=5), Budget(max_cost_usd=12, prices=PRICES)
TWO = ("one", "two")


def model():
    return ScriptedChatModel(lambda messages: "out", usage=(5, 5))


class JudgingModel(FakeMonitor):
    def __init__(self):
        super().__init__()
        self.llm = model()

    def evaluate(self, objective, result):
        self.llm.invoke(objective)
        return super().evaluate(objective, result)


class WritingExecutor(SynthesizingExecutor):
    def synthesize(self, task, results):
        return model().invoke(task).text


class SlowAssessments(SpeakingExecutor):
    def assess_step(self, *args):
        time.sleep(1.5)


class SlowSupervisor(FakeSupervisor):
    def supervise(self, request):
        time.sleep(1.5)


def records(state):
    return [*state["results"], *state["synthesis"]]


def unreported(state):
    return [each for each in records(state) if each["report"] is None or each["verdict"] is None]


SLOW = {"supervision": "llm", "supervisor": FakeSupervisor(), "call_timeout": 0.4}
ENDS = {
    "tokens in an execution": ({"executor": ModelExecutor(model()), "budget": TOKENS}, 1),
    "tokens in an async execution": ({"executor": AsyncModelExecutor(model()), "budget": TOKENS}, 1),
    "the cost of two steps": ({"plan": TWO, "executor": ModelExecutor(model()), "budget": MONEY}, 2),
    "tokens in the final answer": ({"plan": TWO, "executor": WritingExecutor(), "budget": TOKENS}, 3),
    "calls while judging": (
        {"executor": ModelExecutor(model()), "monitor": JudgingModel(), "budget": Budget(max_model_calls=1)},
        1,
    ),
    "a late self-assessment": ({"executor": SlowAssessments(said=[met()]), **SLOW}, 1),
    "a late supervisor": (
        {"executor": SpeakingExecutor(said=[missed()]), **SLOW, "supervisor": SlowSupervisor()},
        1,
    ),
}


@pytest.mark.parametrize(("saver", "mode"), [(None, "run"), (InMemorySaver, "arun")])
def test_a_run_that_ends_at_a_limit_has_a_report_of_each_execution(saver, mode, subtests):
    for name, (options, number) in ENDS.items():
        with subtests.test(name):
            orchestrator = build(**{"plan": ["one"], **options}, checkpointer=saver and saver())
            state = asyncio.run(orchestrator.arun("x")) if mode == "arun" else orchestrator.run("x")

            kind = "timeout" if "call_timeout" in options else "budget_exceeded"
            assert (state["failure"]["kind"], len(records(state)), unreported(state)) == (kind, number, [])


def test_no_judge_is_asked_once_the_run_has_ended():
    monitor = FakeMonitor()
    state = build(ModelExecutor(model()), monitor, ["one"], budget=TOKENS, contract=HAS_OUT).run("x")

    (record,) = state["results"]
    told = "The run ended before the output was judged: step 1: max_"
    assert (monitor.calls, state["judge_calls"]["made"], record["status"]) == ([], 0, "needs_review")
    assert record["verdict"]["success"] is False
    assert record["verdict"]["feedback"].startswith(told)
    assert [each["passed"] for each in record["report"]["checks"]] == [True]


def test_a_run_that_reaches_the_callers_recursion_limit_has_a_report_of_each_execution(subtests):
    for limit in range(3, 8):
        for saver in [None, InMemorySaver]:
            with subtests.test(limit=limit, saver=saver):
                orchestrator = build(plan=["one", "two", "three", "four"], checkpointer=saver and saver())
                state = orchestrator.run("x", "t", config={"recursion_limit": limit})

                assert (state["failure"]["kind"], unreported(state)) == ("recursion_limit", [])
                assert records(state)
                if saver is not None:
                    assert orchestrator.resume("t")["status"] == "success"


@pytest.mark.parametrize("plan", [["one"], ["one", "two"]])
def test_a_run_whose_last_allowed_node_ends_it_has_the_end_that_is_stored(plan):
    orchestrator = build(plan=plan, checkpointer=InMemorySaver())
    limit = 1 + 2 * len(plan)
    state = orchestrator.run("x", "t", config={"recursion_limit": limit})

    stored = orchestrator.graph.get_state({"configurable": {"thread_id": "t"}}).values
    assert (state["status"], state["failure"], stored["status"]) == ("success", None, "success")


def count_down(state: MessagesState, config: RunnableConfig):
    return {"messages": [("ai", "out")]}


def agent_of_many_steps():
    graph = StateGraph(MessagesState)
    graph.add_node("count", count_down)
    graph.add_edge(START, "count")
    graph.add_conditional_edges("count", lambda state: END if len(state["messages"]) > 20 else "count")
    return graph.compile()


LIMITED = {
    "one step": {},
    "steps with a final answer": {"plan": TWO, "executor": SynthesizingExecutor()},
    "supervised": {"executor": SpeakingExecutor(), "supervision": "llm", "supervisor": FakeSupervisor()},
    "an executor that is a graph": {
        "executor": SimpleNamespace(
            execute_step=lambda step, context="": agent_of_many_steps().invoke({"messages": []}) and "out"
        )
    },
}


def test_the_recursion_limit_of_the_caller_holds_for_the_nodes_of_the_run_alone(subtests):
    for name, options in LIMITED.items():
        with subtests.test(name):
            state = build(**{"plan": ["one"], **options}).run("x", config={"recursion_limit": 10})
            assert (state["status"], unreported(state)) == ("success", [])
