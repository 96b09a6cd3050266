"""Builds and runs orchestrators that are supervised by a model or by a person."""

from __future__ import annotations

import json

from langgraph.checkpoint.memory import InMemorySaver

from agents.testing import ScriptedChatModel
from evaluation import EvaluationContract
from orchestrator import LangGraphOrchestrator
from tests.fakes.monitor import FakeMonitor
from tests.fakes.planner import FakePlanner
from tests.fakes.supervision import FakeSupervisor, SpeakingExecutor

THREAD = {"configurable": {"thread_id": "thread"}}
APPROVE = {"answer": "approve"}
DENY = {"answer": "deny", "text": "too dear"}
CORRECT = {"answer": "correct", "text": "use fewer words"}
PARALLEL_PLAN = [{"step": "one", "needs": []}, {"step": "two", "needs": []}, {"step": "end", "needs": [1, 2]}]
DONE = EvaluationContract(required_content=[{"text": "done"}])


def build_llm(supervisor=None, executor=None, monitor=None, plan=("one",), **options):
    """An orchestrator in mode "llm"."""
    agents = FakePlanner(list(plan)), executor or SpeakingExecutor(), monitor or FakeMonitor()
    defaults = {"supervision": "llm", "supervisor": supervisor or FakeSupervisor()}
    return LangGraphOrchestrator(*agents, **{**defaults, **options})


def run_llm(*agents, **options):
    """The state of a run in mode "llm"."""
    return build_llm(*agents, **options).run("x")


def build_human(executor=None, monitor=None, plan=("one", "two"), **options):
    """An orchestrator in mode "human"."""
    agents = FakePlanner(list(plan)), executor or SpeakingExecutor(), monitor or FakeMonitor()
    defaults = {"supervision": "human", "checkpointer": InMemorySaver()}
    return LangGraphOrchestrator(*agents, **{**defaults, **options})


def start_human(*agents, **options):
    """An orchestrator in mode "human", and the state of its run with the first question."""
    orchestrator = build_human(*agents, **options)
    return orchestrator, orchestrator.run("x", "thread")


def answer_all(orchestrator, state, answer):
    """Answers until the run has ended. Returns the steps that were asked about, and the last state."""
    steps = []
    while state["status"] == "executing":
        steps.append(state["question"]["step"])
        state = orchestrator.resume("thread", answer(state["question"]) if callable(answer) else answer)
    return steps, state


def replying(answer):
    """A model that always gives this answer."""
    return ScriptedChatModel(lambda messages: json.dumps(answer))


def statuses(state):
    return [record["status"] for record in state["results"]]


def failure_kind(state):
    return state["failure"] and state["failure"]["kind"]


def supervision_of(state, at=0):
    return state["results"][at]["supervision"]


def stored_state(orchestrator):
    return orchestrator.graph.get_state(THREAD).values
