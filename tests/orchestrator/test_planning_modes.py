"""When the planner is asked: first, after all attempts at the whole task, or never."""

import pytest
from langchain_core.tools import tool

from agents import ExecutionAgent, MonitoringAgent, PlanningAgent
from agents.testing import ScriptedChatModel
from orchestrator import ConfigurationError, LangGraphOrchestrator, RetryPolicy

YES = '{"success": true, "feedback": "good"}'
NO = '{"success": false, "feedback": "Name the year."}'
PLAN = '{"plan": ["Find the year", "Write the sentence"]}'


@tool
def find_year(event: str) -> str:
    """Find the year of an event."""
    return "1066"


def build(replies, *, tools=None, **options):
    model = ScriptedChatModel(replies)
    return model, LangGraphOrchestrator.from_model(model, tools=tools, contract=None, **options)


def test_a_task_without_tools_is_tried_as_a_whole_first():
    model, orchestrator = build(["It was in 1066.", YES])
    state = orchestrator.run("When was the battle?")

    assert (state["status"], state["plan"], state["output"]) == (
        "success",
        ["When was the battle?"],
        "It was in 1066.",
    )
    assert state["usage"]["model_calls"] == len(model.prompts) == 2


def test_the_planner_is_asked_if_all_attempts_failed_and_is_told_why():
    model, orchestrator = build(
        ["Long ago.", NO, PLAN, "1066", YES, "It was in 1066.", YES, "In 1066.", YES], max_retries=0
    )
    state = orchestrator.run("When was the battle?")

    assert state["status"] == "success"
    assert state["plan"] == ["When was the battle?", "Find the year", "Write the sentence"]
    assert state["replaced"] == [0]
    request = model.prompts[2][-1].text
    assert "When was the battle?" in request
    assert "Name the year." in request


def test_a_task_with_tools_is_planned_first_because_a_failed_attempt_may_have_acted():
    _, orchestrator = build(['{"plan": ["Look it up"]}', "1066", YES], tools=[find_year])

    assert orchestrator.run("When was the battle?")["plan"] == ["Look it up"]


def test_never_asks_no_planner_even_if_all_attempts_failed(subtests):
    for policy in [RetryPolicy(max_retries=0), RetryPolicy(max_retries=0, max_replans=2)]:
        with subtests.test(policy=policy):
            model, orchestrator = build(["Long ago.", NO], planning="never", retry_policy=policy)
            state = orchestrator.run("When was the battle?")

            assert (state["status"], state["plan"]) == ("failed", ["When was the battle?"])
            assert len(model.prompts) == 2


def test_the_constructor_asks_the_planner_first_as_the_documents_have_it():
    model = ScriptedChatModel(['{"plan": ["Look it up"]}', "1066", YES])
    agents = PlanningAgent(model), ExecutionAgent(model), MonitoringAgent(model)

    assert LangGraphOrchestrator(*agents).run("When was the battle?")["plan"] == ["Look it up"]


def test_an_unknown_mode_is_refused_before_anything_runs():
    with pytest.raises(ConfigurationError, match="planning is 'later'; give 'always', 'auto' or 'never'"):
        build([], planning="later")
