"""The scripted model that users test with."""

from __future__ import annotations

import pytest
from langchain_core.messages import AIMessage

from agents import BaseAgent, MonitoringAgent
from agents.testing import ScriptedChatModel


def test_replies_come_in_their_order():
    model = ScriptedChatModel(["a", AIMessage("b")])
    assert [model.invoke("1").text, model.invoke("2").text] == ["a", "b"]


def test_an_exception_in_the_script_is_raised():
    with pytest.raises(ConnectionError, match="refused"):
        ScriptedChatModel([ConnectionError("refused")]).invoke("x")


def test_a_script_that_has_run_out_says_who_asked():
    model = ScriptedChatModel(["yes"])
    BaseAgent(model, "You carry out one step. Reply briefly.").invoke("first")

    with pytest.raises(AssertionError) as raised:
        MonitoringAgent(model).evaluate("x", "y")

    assert str(raised.value).startswith(
        "the script has run out at call 2, where 'You check the work of another agent' asks: "
    )
    assert "objective" in str(raised.value)


def test_a_function_answers_from_the_prompt():
    model = ScriptedChatModel(lambda messages: messages[-1].text.upper())
    assert model.invoke("hi").text == "HI"


def test_the_usage_that_is_given_is_reported_with_each_reply():
    usage = ScriptedChatModel(["a"], usage=(3, 4)).invoke("x").usage_metadata
    assert usage == {"input_tokens": 3, "output_tokens": 4, "total_tokens": 7}
