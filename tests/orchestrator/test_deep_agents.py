"""ContractMiddleware in subagents of deepagents: what the deep agent gets of their answers."""

from deepagents import create_deep_agent
from langchain_core.messages import AIMessage, ToolMessage
from pydantic import BaseModel

from agents.testing import ScriptedChatModel
from orchestrator import ContractMiddleware
from tests.orchestrator.test_contract_middleware import TASK, TOTAL, Shop, call, invoke  # noqa: F401 - a fixture

NOTE = "(This answer was refused."


class Total(BaseModel):
    """The total of an order."""

    amount: float


def build(told, replies, own=({"must_call": ["task"]},), **subagent):
    """Build a deep agent whose subagent has a contract, and which has contracts of its own."""
    reader = {
        "name": "reader",
        "description": "Reads orders.",
        "system_prompt": "Read.",
        "tools": [Shop().get_order],
        "model": ScriptedChatModel(told),
        "middleware": [ContractMiddleware(TOTAL, max_retries=1)],
        **subagent,
    }
    middleware = [ContractMiddleware(each) for each in own]
    return create_deep_agent(
        model=ScriptedChatModel(replies), tools=[], subagents=[reader], middleware=middleware
    )


def ask(*numbers):
    args = {"description": "Read the total.", "subagent_type": "reader"}
    calls = [{"name": "task", "args": args, "id": f"ask {number}"} for number in numbers]
    return AIMessage("", tool_calls=calls)


def list_told(state):
    return [each.text for each in state["messages"] if isinstance(each, ToolMessage)]


def test_a_deep_agent_gets_the_answer_that_the_contract_of_its_subagent_accepts(invoke):  # noqa: F811
    agent = build(["It is 15 euros.", "It is 12.50 euros."], [ask(1), "It is 12.50 euros."])
    state = invoke(agent, TASK)
    assert list_told(state) == ["It is 12.50 euros."]
    assert state["verdict"]["accepted"]


def test_a_deep_agent_reads_that_the_answer_of_its_subagent_was_refused(invoke, subtests):  # noqa: F811
    for own in ((), ({"must_call": ["task"]},)):
        with subtests.test(contracts=len(own)):
            agent = build(["It is 15 euros.", "It is 16 euros."], [ask(1), "I do not know."], own)
            [told] = list_told(invoke(agent, TASK))
            assert told.startswith("It is 16 euros.")
            assert NOTE in told


def test_a_refused_structured_answer_is_not_handed_on(invoke):  # noqa: F811
    answers = [call("Total", "1", amount=15), call("Total", "2", amount=16)]
    agent = build(answers, [ask(1), "I do not know."], response_format=Total)
    [told] = list_told(invoke(agent, TASK))
    assert NOTE in told


def test_the_verdicts_on_parallel_subagents_are_not_the_verdict_on_the_deep_agent(invoke):  # noqa: F811
    agent = build(["It is 12.50 euros."] * 2, [ask(1, 2), *["I give up."] * 3], (TOTAL,))
    state = invoke(agent, TASK)
    assert list_told(state) == ["It is 12.50 euros."] * 2
    assert not state["verdict"]["accepted"]
