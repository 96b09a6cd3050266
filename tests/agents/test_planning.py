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


BESIDE = [
    '{"plan": ["a"]}\nDo not use this plan.', '{"plan": ["a"], "truncated": true}', "WIP:\n1. a\n2. b",
    '{"plan": {"steps": ["a"], "has_more": true}}', "1. a\n2. b\n(to be continued)", "1. a\n\n[weiter folgt]",
    '{"plan": ["a"]} No, wait.', "Vorläufig:\n- a\n- b", '{"plan": ["a"], "needs_more_steps": true}',
    '1. a\n2. b\n\nThis was only half of it.',
]  # fmt: skip
ALONE = [
    "1. a\n2. b", "Here is the plan:\n1. a\n2. b", "**Plan**\n- a\n- b", '{"plan": ["a"], "has_more": false}',
    '{"title": "Trip", "steps": ["a"], "count": 1}', '```json\n{"plan": ["a"]}\n```',
    '{"plan": ["a"], "final": true}',
    "1. Scale to [0, 1)\n2. b", "1. In (0, 1]\n2. b", "- in [0, n) and [-1, ∞)\n- b",
]  # fmt: skip


def test_a_plan_with_words_beside_it_is_asked_for_once_more(subtests):
    for reply in BESIDE:
        with subtests.test(reply=reply):
            model = ScriptedChatModel([reply, TWO])
            assert PlanningAgent(model).generate_plan("task") == ["read", "write"]
            assert "words beside it" in model.prompts[1][-1].text


def test_a_plan_alone_is_taken_at_once_and_one_that_is_repeated_with_words_too(subtests):
    for reply in ALONE:
        with subtests.test(reply=reply):
            assert PlanningAgent(ScriptedChatModel([reply])).generate_plan("task")
    chatty = "Here you go:\n1. read\n2. write\n\nGood luck!"
    assert PlanningAgent(ScriptedChatModel([chatty, chatty])).generate_plan("task") == ["read", "write"]


def test_a_model_that_gives_no_plan_twice_is_an_error_with_its_words(subtests):
    told = r"twice: its? .*; its last reply begins with '\{\"plan"
    for reply in ['{"plan": ["read", "remove /da', '{"plan": ["a"]} or {"plan": ["b"]}']:
        with subtests.test(reply=reply), pytest.raises(PlanError, match=told):
            PlanningAgent(ScriptedChatModel([reply, reply])).generate_plan("task")
