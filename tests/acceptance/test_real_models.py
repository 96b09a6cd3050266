"""A whole task on a real model: what it says is its own affair, what comes back has its shape."""

import json

import pytest

from agents import CompressContextTool, ExecutionAgent, MonitoringAgent, PlanningAgent
from orchestrator import Budget, LangGraphOrchestrator
from orchestrator.events import RunFinished, StepExecuted, StepJudged

pytestmark = pytest.mark.real_model
TASK = "List three uses of a brick"
THE_MODELS_OWN = {None, "attempts_exhausted", "needs_review"}
"""How a run may end that nothing went wrong with but the model's answers."""


@pytest.fixture(params=["embedded_llm", "ollama_llm"])
def llm(request):
    return request.getfixturevalue(request.param)


def test_a_task_is_planned_executed_and_judged_by_a_real_model(llm):
    orchestrator = LangGraphOrchestrator(
        PlanningAgent(llm),
        ExecutionAgent(llm),
        MonitoringAgent(llm),
        CompressContextTool(max_length=500),
        max_retries=1,
        budget=Budget(max_seconds=300, max_model_calls=40),
    )
    events = list(orchestrator.stream(TASK))
    executed = [event for event in events if isinstance(event, StepExecuted)]
    judged = [event for event in events if isinstance(event, StepJudged)]
    finished = events[-1]

    assert isinstance(finished, RunFinished)
    state = finished.state
    assert (state["failure"] and state["failure"]["kind"]) in THE_MODELS_OWN
    assert (state["task"], state["status"] in ("success", "failed")) == (TASK, True)
    assert len(state["plan"]) >= 1
    assert all(isinstance(step, str) and step.strip() for step in state["plan"])
    assert len(executed) == len(judged) == len(state["results"]) >= 1
    assert all(isinstance(record["verdict"]["success"], bool) for record in state["results"])
    assert json.loads(json.dumps(state)) == state


@pytest.mark.sample
def test_a_real_model_reports_what_it_used(llm):
    orchestrator = LangGraphOrchestrator(
        PlanningAgent(llm), ExecutionAgent(llm), MonitoringAgent(llm), max_retries=0
    )
    state = orchestrator.run("Write a haiku about the ocean")

    assert (state["usage"]["token_source"], state["usage"]["failed_model_calls"]) == ("measured", 0)
    assert state["usage"]["model_calls"] >= 3
    assert state["usage"]["input_tokens"] > 0
    assert state["usage"]["output_tokens"] > 0
    assert state["results"][0]["usage"]["latency_ms"] > 0
