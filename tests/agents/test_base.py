"""What all agents share."""

from __future__ import annotations

import inspect

import pytest
from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableLambda

from agents import BaseAgent, ExecutionAgent, MonitoringAgent, PlanningAgent
from agents.testing import ScriptedChatModel

TEXTS = ["plain", "{", "}", "{}", "{name} {{twice}} {0!r:>{1}}", "%s ${x}", "", "\x00\u202eé\U0001f600"]


def test_any_input_reaches_the_model_unchanged(subtests):
    for text in TEXTS:
        with subtests.test(text=text):
            model = ScriptedChatModel(["ok"])
            BaseAgent(model).invoke(text)
            assert model.prompts[0][1].text == text


def test_the_signature_is_that_of_the_document():
    assert list(inspect.signature(BaseAgent).parameters)[:3] == ["llm", "system_prompt", "agent_name"]
    agent = BaseAgent(ScriptedChatModel([]), system_prompt="role", agent_name="Ann")
    assert (agent.system_prompt, agent.agent_name) == ("role", "Ann")


def test_a_reply_in_blocks_is_joined():
    blocks = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    assert BaseAgent(ScriptedChatModel([AIMessage(blocks)])).invoke("hi") == "ab"


async def test_the_awaited_twin_gives_the_same():
    assert await BaseAgent(ScriptedChatModel(["<think>hm</think>\nhello"])).ainvoke("hi") == "hello"


def test_what_is_no_model_is_refused_with_its_value_and_what_to_give(subtests):
    for agent in [BaseAgent, PlanningAgent, ExecutionAgent, MonitoringAgent]:
        for llm in [None, "llama3", 3, object, dict]:
            with (
                subtests.test(agent=agent, llm=llm),
                pytest.raises(TypeError, match=r"llm is .*give a LangChain chat model"),
            ):
                agent(llm)


def test_a_runnable_that_knows_no_schema_is_asked_without_one(subtests):
    for agent in [PlanningAgent, MonitoringAgent]:
        with subtests.test(agent=agent):
            model = RunnableLambda(lambda _: AIMessage('{"plan": ["a"], "success": true}'))
            judge_or_planner = agent(model)
            if isinstance(judge_or_planner, PlanningAgent):
                assert judge_or_planner.generate_plan("task") == ["a"]
            else:
                assert judge_or_planner.evaluate("a", "b") == {"success": True, "feedback": ""}
