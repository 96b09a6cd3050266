"""A model derives the checks: each has to rest on words of the task, as the rules read them."""

from __future__ import annotations

import json

import pytest

from agents.testing import ScriptedChatModel
from evaluation.task_checks import DerivedChecks
from orchestrator import LangGraphOrchestrator, ModelWriter
from orchestrator.task_contracts.written_checks import KINDS, build_schema
from tests.fakes.executor import FakeExecutor
from tests.fakes.monitor import FakeMonitor
from tests.fakes.planner import FakePlanner

TASK = "Name a fruit. Use at most 2 words. Mention plum."
SHORT = {
    "check": "word_count",
    "max": 2,
    "quote": "at most 2 words",
    "passing": "a plum",
    "failing": "a big red plum",
}
PLUM = {"check": "contains", "texts": ["plum"], "quote": "Mention plum", "passing": "plum", "failing": "pear"}
UNREADABLE = "the model's list of checks could not be read, so that nothing is checked"


def reply(*items, unchecked=()):
    return json.dumps({"checks": items, "unchecked": [*unchecked]})


def write(*items, task=TASK, unchecked=(), repaired=None):
    """Have a model write checks; asked to repair them, it repeats them, or gives the repaired ones."""
    first = reply(*items, unchecked=unchecked)
    model = ScriptedChatModel([first, first if repaired is None else reply(*repaired)])
    return ModelWriter(model).write_checks(task)


def kinds(derived: DerivedChecks):
    return [check.check for check in derived.checks]


def test_the_checks_of_the_model_are_read():
    derived = write(SHORT, PLUM, unchecked=["Name a  fruit", "an invention"])

    assert kinds(derived) == ["word_count", "contains"]
    assert derived.unchecked == ("Name a fruit",)


@pytest.mark.parametrize("wrapping", ["```json\n%s\n```", "<think>at most two?</think>%s", "\n%s\n"])
def test_a_reply_in_the_usual_wrappings_is_read(wrapping):
    model = ScriptedChatModel([wrapping % reply(SHORT)])

    assert kinds(ModelWriter(model).write_checks(TASK)) == ["word_count"]


def test_a_quote_is_found_whatever_its_white_space():
    [check] = write({**SHORT, "quote": "at most\n 2 words"}, task="Use at  most 2\nwords for a fruit.").checks

    assert check.quote == "at  most 2\nwords"


@pytest.mark.parametrize(
    "item",
    [
        {**SHORT, "quote": "at most two words"},
        {**SHORT, "quote": ""},
        {**SHORT, "check": "function", "name": "delete_all"},
        {**SHORT, "check": "command", "arguments": ["rm"]},
        {**SHORT, "max": "two"},
        {**SHORT, "max": 3},
        {**SHORT, "words": 2},
        {**SHORT, "passing": "a big red plum"},
        {**SHORT, "failing": "plum"},
        {name: value for name, value in SHORT.items() if name != "passing"},
        {**PLUM, "texts": ["pear"], "passing": "pear", "failing": "plum"},
        "word_count",
        None,
    ],
    ids=str,
)
def test_a_check_that_the_task_does_not_bear_out_is_dropped(item):
    derived = write(item)

    assert derived.checks == ()
    assert "at most 2 words" in derived.unchecked


@pytest.mark.parametrize(
    ("task", "item"),
    [
        ("Stay under 60 words.", {"check": "word_count", "max": 59, "passing": "a", "failing": "a " * 60}),
        ("Answer in two sentences.", {
            "check": "sentence_count", "exactly": 2, "passing": "It is. It was.", "failing": "It is."}),
        ("Answer without commas.", {"check": "punctuation", "mark": ",", "passing": "a", "failing": "a, b"}),
        ("Antworte auf Deutsch.", {
            "check": "language", "code": "de", "passing": "Das ist ein guter Satz.",
            "failing": "This is a good sentence."}),
        ("No bullet points.", {
            "check": "list_item_count", "max": 0, "marker": "bullet", "passing": "a", "failing": "- a\n- b"}),
    ],
)  # fmt: skip
def test_numbers_and_texts_may_stand_in_the_quote_in_other_words(task, item):
    assert kinds(write({**item, "quote": task.rstrip(".")}, task=task)) == [item["check"]]


def test_the_model_cannot_make_a_check_harmless():
    [check] = write({**SHORT, "severity": "info"}).checks

    assert check.severity == "critical"


def test_checks_that_contradict_each_other_are_unchecked():
    task = "Write 5 words. Write 9 lines, 5 words."
    five = {
        "check": "word_count",
        "exactly": 5,
        "quote": "Write 5 words",
        "passing": "a b c d e",
        "failing": "a",
    }
    nine = {
        "check": "word_count",
        "exactly": 9,
        "quote": "9 lines, 5 words",
        "passing": "a " * 9,
        "failing": "a",
    }
    derived = write(five, nine, task=task)

    assert derived.checks == ()
    assert {"Write 5 words", "9 lines, 5 words"} <= set(derived.unchecked)
    assert "No output can fulfil" in derived.warnings[0]


def test_words_that_the_rules_read_differently_are_unchecked():
    wrong = {**SHORT, "max": None, "min": 2, "passing": "a plum", "failing": "plum"}
    derived = write({name: value for name, value in wrong.items() if value is not None})

    assert derived.checks == ()
    assert "at most 2 words" in derived.unchecked


def test_what_the_rules_read_and_the_model_leaves_out_is_unchecked():
    assert "at most 2 words" in write(PLUM).unchecked
    assert "at most 2 words" not in write(SHORT).unchecked


def test_the_model_may_repair_its_reply_once():
    assert kinds(write({**SHORT, "quote": "2 words max"}, PLUM, repaired=[SHORT, PLUM])) == [
        "word_count",
        "contains",
    ]


def test_a_repair_that_breaks_more_is_not_used():
    assert kinds(write({**SHORT, "max": 3}, PLUM, repaired=[None, None])) == ["contains"]


@pytest.mark.parametrize("text", ["no idea", "[]", '{"checks": 3}', ""])
def test_a_reply_that_cannot_be_read_checks_nothing_and_says_so(text):
    model = ScriptedChatModel([text] * 2)
    derived = ModelWriter(model).write_checks(TASK)

    assert (derived.checks, derived.warnings, len(model.prompts)) == ((), (UNREADABLE,), 2)
    assert "at most 2 words" in derived.unchecked


def test_the_repair_says_what_was_wrong():
    model = ScriptedChatModel([reply({**SHORT, "max": 3}), reply(SHORT)])
    ModelWriter(model).write_checks(TASK)

    assert "check 1: 3 does not stand in its quote 'at most 2 words'" in model.prompts[1][-1].text


def test_the_task_is_fenced_as_data_and_each_kind_has_one_line():
    model = ScriptedChatModel([reply(SHORT)])
    ModelWriter(model).write_checks(TASK)
    instructions, request = (message.text for message in model.prompts[0])

    assert all(instructions.count(f"- {kind}: ") == 1 for kind in KINDS)
    assert TASK in request
    assert request != TASK
    assert len(json.dumps(build_schema())) < 8000


def test_a_run_uses_the_model_and_counts_its_usage():
    model = ScriptedChatModel([reply(SHORT, PLUM)], usage=(10, 5))
    agents = FakePlanner(["name it"]), FakeExecutor("a ripe plum", "plum"), FakeMonitor()
    state = LangGraphOrchestrator(*agents, contract="from_task", contract_writer=ModelWriter(model)).run(TASK)

    assert [record["status"] for record in state["results"]] == ["failed", "validated"]
    assert (state["basis"], state["usage"]["total_tokens"]) == ("unverified", 15)
