"""The planner: a task in, steps out."""

from __future__ import annotations

import logging

import pytest

from agents import PlanningAgent
from agents.errors import PlanError
from agents.testing import ScriptedChatModel

TWO = '{"plan": ["read", "write"]}'


def test_a_reply_without_a_list_is_one_step_and_a_warning(caplog):
    agent = PlanningAgent(ScriptedChatModel(["Just write it."]))
    with caplog.at_level(logging.DEBUG, "agents"):
        assert agent.generate_plan("task") == ["Just write it."]
    [record] = caplog.records
    assert (record.levelno, record.name) == (logging.WARNING, "agents.planning")
    assert "reply of 14 characters" in record.getMessage()


def test_an_empty_plan_is_an_empty_list(subtests):
    for reply in ['{"plan": []}', "[]", "", "<think>hm", "<think>hm</think>"]:
        with subtests.test(reply=reply):
            assert PlanningAgent(ScriptedChatModel([reply])).generate_plan("task") == []


def test_after_a_plan_without_its_end_the_model_is_asked_again_and_told_why():
    model = ScriptedChatModel(['{"plan": ["read", "remove /da', TWO])
    assert PlanningAgent(model).generate_plan("task") == ["read", "write"]
    assert "its JSON has no end" in model.prompts[1][-1].text


def test_a_model_that_gives_no_plan_twice_is_an_error_with_its_words(subtests):
    for reply in ['{"plan": ["read", "remove /da', '{"plan": ["a"]} or {"plan": ["b"]}']:
        with (
            subtests.test(reply=reply),
            pytest.raises(PlanError, match=r"twice: its? .*; its last reply begins with '\{\"plan"),
        ):
            PlanningAgent(ScriptedChatModel([reply, reply])).generate_plan("task")
