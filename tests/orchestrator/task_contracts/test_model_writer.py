"""A model derives the checks: each has to quote the task, and nothing that the rules recognise is lost."""

from __future__ import annotations

import json

import pytest

from agents.testing import ScriptedChatModel
from evaluation.task_checks import DerivedChecks
from orchestrator import LangGraphOrchestrator, ModelWriter
from tests.fakes.executor import FakeExecutor
from tests.fakes.monitor import FakeMonitor
from tests.fakes.planner import FakePlanner

TASK = "Name a fruit. Use at most 2 words. Mention plum."
SHORT = {"check": "word_count", "max": 2, "quote": "at most 2 words"}
PLUM = {"check": "contains", "texts": ["plum"], "quote": "Mention plum"}
UNREADABLE = "the model's list of checks could not be read, so that nothing is checked"


def write(*items, task=TASK, reply=None):
    model = ScriptedChatModel([json.dumps({"checks": items}) if reply is None else reply])
    return ModelWriter(model).write_checks(task)


def kinds(derived: DerivedChecks):
    return [check.check for check in derived.checks]


def test_the_checks_of_the_model_are_read():
    assert kinds(write(SHORT, PLUM)) == ["word_count", "contains"]


@pytest.mark.parametrize("wrapping", ["```json\n%s\n```", "<think>at most two?</think>%s", "\n%s\n"])
def test_a_reply_in_the_usual_wrappings_is_read(wrapping):
    assert kinds(write(reply=wrapping % json.dumps({"checks": [SHORT]}))) == ["word_count"]


@pytest.mark.parametrize(
    "item",
    [
        {**SHORT, "quote": "at most two words"},
        {**SHORT, "quote": ""},
        {"check": "word_count", "max": 2},
        {**SHORT, "check": "number_of_words"},
        {**SHORT, "max": "two"},
        {**SHORT, "words": 2},
        {"check": "function", "name": "delete_all", "quote": "at most 2 words"},
        {"check": "command", "arguments": ["rm"], "quote": "at most 2 words"},
        "word_count",
        None,
    ],
    ids=str,
)
def test_a_check_that_is_no_check_or_quotes_something_else_is_dropped(item):
    assert kinds(write(item, PLUM)) == ["contains"]


def test_the_model_cannot_make_a_check_harmless():
    [check] = write({**SHORT, "severity": "info"}).checks

    assert check.severity == "critical"


def test_what_the_rules_recognise_and_the_model_leaves_out_is_unchecked():
    assert write(PLUM).unchecked[:1] == ("at most 2 words",)
    assert "at most 2 words" not in write(SHORT).unchecked


@pytest.mark.parametrize(
    "weaker",
    [{**SHORT, "max": 2000}, {**SHORT, "max": 2000, "quote": TASK}, {**SHORT, "max": 2, "each": "line"}],
    ids=str,
)
def test_a_weaker_check_of_the_model_covers_no_requirement(weaker):
    assert "at most 2 words" in write(weaker, PLUM).unchecked


def test_a_quote_of_the_whole_task_covers_no_phrase_without_a_check():
    task = "Explain gravity. Your answer must contain many words. Be polite."
    unchecked = write(task=task).unchecked
    easy = {"check": "word_count", "min": 1}

    assert unchecked
    assert write({**easy, "quote": task}, task=task).unchecked == unchecked
    assert write(*({**easy, "quote": phrase} for phrase in unchecked), task=task).unchecked == ()


@pytest.mark.parametrize("reply", ["no idea", "[]", '{"checks": 3}', ""])
def test_a_reply_that_cannot_be_read_checks_nothing_and_says_so(reply):
    derived = write(reply=reply)

    assert (derived.checks, derived.warnings) == ((), (UNREADABLE,))
    assert "at most 2 words" in derived.unchecked


def test_the_task_is_fenced_as_data_and_the_kinds_are_listed():
    model = ScriptedChatModel(['{"checks": []}'])
    ModelWriter(model).write_checks(TASK)
    instructions, request = (message.text for message in model.prompts[0])

    assert "- word_count: min, max, exactly" in instructions
    assert TASK in request
    assert request != TASK


def test_a_run_uses_the_model_and_counts_its_usage():
    model = ScriptedChatModel([json.dumps({"checks": [SHORT, PLUM]})], usage=(10, 5))
    agents = FakePlanner(["name it"]), FakeExecutor("a ripe plum", "plum"), FakeMonitor()
    state = LangGraphOrchestrator(*agents, contract="from_task", contract_writer=ModelWriter(model)).run(TASK)

    assert [record["status"] for record in state["results"]] == ["failed", "validated"]
    assert (state["basis"], state["usage"]["total_tokens"]) == ("checked", 15)
