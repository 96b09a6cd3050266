import inspect

import pytest
from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableLambda

from agents import BaseAgent, CompressContextTool, ExecutionAgent, MonitoringAgent, PlanningAgent
from agents.testing import ScriptedChatModel

TEXTS = ["plain", "{", "}", "{}", "{name} {{twice}} {0!r:>{1}}", "%s ${x}", "", "\x00\u202eé\U0001f600"]


def test_any_input_reaches_the_model_unchanged(subtests):
    for text in TEXTS:
        with subtests.test(text=text):
            model = ScriptedChatModel(["ok"])
            BaseAgent(model).invoke(text)
            assert model.prompts[0][1].text == text


SIGNATURES = [
    (BaseAgent, ["llm", "system_prompt", "agent_name"]),
    (PlanningAgent, ["llm", "system_prompt"]),
    (ExecutionAgent, ["llm", "tools", "system_prompt"]),
    (MonitoringAgent, ["llm", "system_prompt"]),
    (MonitoringAgent.evaluate, ["self", "objective", "result"]),
    (PlanningAgent.generate_plan, ["self", "task"]),
    (ExecutionAgent.execute_step, ["self", "step_description", "context"]),
]


def test_the_signatures_are_those_of_the_documents(subtests):
    for function, names in SIGNATURES:
        with subtests.test(function=function.__qualname__):
            assert list(inspect.signature(function).parameters)[: len(names)] == names
    agent = BaseAgent(ScriptedChatModel([]), system_prompt="role", agent_name="Ann")
    assert (agent.system_prompt, agent.agent_name) == ("role", "Ann")


REPLY = '<think>hm</think>{"plan": ["{x}"], "success": true, "feedback": "met"}'
TWINS = {
    "invoke": lambda model, a: getattr(BaseAgent(model), f"{a}invoke")("{hi}"),
    "generate_plan": lambda model, a: getattr(PlanningAgent(model), f"{a}generate_plan")("{task}"),
    "execute_step": lambda model, a: getattr(ExecutionAgent(model), f"{a}execute_step")(
        "{step}", "Step 1: {y}"
    ),
    "evaluate": lambda model, a: getattr(MonitoringAgent(model), f"{a}evaluate")("Write", "x {y}"),
}


async def test_the_awaited_twin_gives_the_same_and_sends_the_same_prompt(subtests):
    for name, call in TWINS.items():
        with subtests.test(name):
            blocking, awaited = ScriptedChatModel([REPLY]), ScriptedChatModel([REPLY])
            assert call(blocking, "") == await call(awaited, "a")
            assert blocking.prompts == awaited.prompts


def test_what_is_no_model_is_refused_with_its_value_and_what_to_give(subtests):
    for agent in [BaseAgent, PlanningAgent, ExecutionAgent, MonitoringAgent]:
        for llm in [None, "llama3", 3, object, dict]:
            told = r"llm is .*give a LangChain chat model"
            with subtests.test(agent=agent, llm=llm), pytest.raises(TypeError, match=told):
                agent(llm)


def test_a_runnable_that_knows_no_schema_is_asked_without_one():
    model = RunnableLambda(lambda _: AIMessage('{"plan": ["a"], "success": true}'))
    assert PlanningAgent(model).generate_plan("task") == ["a"]
    assert MonitoringAgent(model).evaluate("a", "b") == {"success": True, "feedback": ""}


NONES = {
    "a context": lambda model, none: ExecutionAgent(model).execute_step("Do it", none),
    "an output that is corrected": lambda model, none: ExecutionAgent(model).correct_step("x", none, "why"),
    "a result": lambda model, none: MonitoringAgent(model).evaluate("Do it", none),
    "an objective": lambda model, none: MonitoringAgent(model).evaluate(none, "done"),
    "a text to compress": lambda _, none: CompressContextTool().compress(none),
}


def test_none_is_an_empty_text(subtests):
    for name, call in NONES.items():
        with subtests.test(name=name):
            seen: dict[str | None, list[str]] = {None: [], "": []}
            answers = []
            for text, asked in seen.items():
                model = ScriptedChatModel(lambda messages, asked=asked: asked.append(str(messages)) or REPLY)
                answers.append(call(model, text))

            assert answers[0] == answers[1]
            assert seen[None] == seen[""]
