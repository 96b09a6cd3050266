"""Structured replies over a real client, and what it lets out of them."""

from __future__ import annotations

import asyncio

import pytest
from langchain_core.language_models.fake_chat_models import FakeListChatModel, GenericFakeChatModel
from langchain_core.messages import AIMessage

from agents import MonitoringAgent
from agents.reply_types import UNREADABLE_PREFIX, VERDICT_SCHEMA

MET = '{"feedback": "met", "success": true}'
PARTIAL = '{"success": true, "feedback": "all is w'


async def judge(agent: MonitoringAgent, awaited: bool) -> dict[str, object]:
    """The same judgement through either entry."""
    if awaited:
        return dict(await agent.aevaluate("objective", "output"))
    return dict(await asyncio.to_thread(agent.evaluate, "objective", "output"))


both_entries = pytest.mark.parametrize("awaited", [False, True], ids=["evaluate", "aevaluate"])


@both_entries
async def test_a_real_client_is_sent_the_schema_and_its_reply_is_read(chat_server, awaited):
    chat_server.will_say(MET)
    assert await judge(MonitoringAgent(chat_server.model()), awaited) == {"success": True, "feedback": "met"}
    [request] = chat_server.requests
    assert request["response_format"]["json_schema"]["schema"]["required"] == VERDICT_SCHEMA["required"]


@both_entries
async def test_a_reply_cut_off_by_the_token_limit_is_unreadable_and_no_exception(chat_server, awaited):
    chat_server.will_say(PARTIAL, finish_reason="length")
    verdict = await judge(MonitoringAgent(chat_server.model()), awaited)
    assert verdict == {"success": False, "feedback": UNREADABLE_PREFIX + PARTIAL}
    assert len(chat_server.requests) == 1


def test_a_model_without_structured_output_is_asked_plainly(subtests):
    for model in [FakeListChatModel(responses=[MET]), GenericFakeChatModel(messages=iter([AIMessage(MET)]))]:
        with subtests.test(model=model):
            assert MonitoringAgent(model).evaluate("objective", "output") == {
                "success": True,
                "feedback": "met",
            }
