from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.tools import tool

from agents import BaseAgent, ExecutionAgent
from agents.models.model_call import make_sendable
from agents.testing import ScriptedChatModel
from tests.agents.agent_runs import run_bare
from tests.fakes.protocol_server import ModelReply, serve_model

HALF = "a\udc80b"
MENDED = "a\ufffdb"


def test_any_answer_with_half_a_surrogate_pair_is_told(subtests):
    for answer in [
        [{"type": "text", "text": HALF, "id": 3}],
        [{"type": "text", "text": HALF, "id": None}],
        {"type": "note", "content": [HALF]},
        '{"error": "' + HALF,
    ]:

        @tool
        def save_note() -> object:
            """Save a note."""
            return answer  # noqa: B023 - called within the turn

        call = AIMessage("", tool_calls=[{"name": "save_note", "args": {}, "id": "1"}])
        with subtests.test(answer=answer):
            model = ScriptedChatModel([call, "done"])
            assert run_bare(model, [save_note]) == "done"
            assert MENDED in str(model.prompts[1][-1].content)


def test_half_a_surrogate_pair_in_a_tools_arguments_goes_back_mended():
    @tool
    def echo(text: str) -> str:
        """Say nothing about it."""
        return "said"

    call = ModelReply(calls=[("echo", {"text": HALF})], reason="tool_calls")
    with serve_model(call, ModelReply("done")) as (model, server):
        assert ExecutionAgent(model, tools=[echo]).execute_step("s") == "done"
    [sent] = server.bodies[1]["messages"][1]["tool_calls"]
    assert json.loads(sent["function"]["arguments"]) == {"text": MENDED}


def test_a_reply_is_handed_on_well_formed(subtests):
    for agent in [BaseAgent, ExecutionAgent]:
        with subtests.test(agent=agent):
            instance = agent(ScriptedChatModel(lambda _: HALF))
            reply = instance.execute_step("s") if agent is ExecutionAgent else instance.invoke("x")
            assert reply == MENDED


@given(st.text(st.characters(codec=None), max_size=20))
def test_every_text_can_be_encoded_afterwards(text):
    [sent] = make_sendable([HumanMessage("").model_copy(update={"content": text})])
    assert sent.content.encode().decode() == sent.content
