"""The arms of the effect benchmark, and its measurement."""

import json
import logging
import os
import sys
from functools import partial

import pytest

from benchmarks.effect.arms import ARMS
from benchmarks.effect.arms.base import Answer, Trial
from benchmarks.effect.arms.unjudged import OneShot
from benchmarks.effect.measurement import Plan, measure
from benchmarks.effect.prompts import Prompt
from benchmarks.effect.records import open_records
from tests.benchmarks.effect.scripted import PROMPTS, SETTINGS, is_right, model, source

YES = '{"success": true, "feedback": "good"}'
NO = '{"success": false, "feedback": "not good"}'


def answer(arm, *replies, retries=2):
    prompt, llm = PROMPTS[0], model(*replies)
    given = ARMS[arm].answer(Trial(prompt, llm, retries, partial(is_right, prompt)))
    return given.output, given.claimed, len(llm.prompts)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_an_arm_claims_and_asks_as_often_as_its_retries_allow(subtests):
    for arm, replies, output, claimed in [
        ("one-shot", ["a"], "a", None),
        ("blind-retries", ["a", "word 1"], "word 1", None),
        ("blind-retries", ["a", "b", "c"], "c", None),
        ("no-contract", ["a", YES], "a", True),
        ("no-contract", ["a", NO, "b", YES], "b", True),
        ("no-contract", ["a", NO, "b", NO, "c", NO], "a", False),
        ("no-contract-planned", ['{"plan": ["Write word number 1."]}', "a", YES], "a", True),
        ("reflection", ["a", "APPROVE"], "a", True),
        ("reflection", ["a", "Too short.", "b", "APPROVE."], "b", True),
        ("reflection", ["a", "Bad.", "b", "Bad.", "c", "Bad."], "c", False),
    ]:
        with subtests.test(arm=arm, replies=replies):
            assert answer(arm, *replies) == (output, claimed, len(replies))


def test_official_instructions_are_checked_without_a_judge_and_fed_back(subtests):
    for arm in ["official-contract", "official-contract-planned"]:
        with subtests.test(arm=arm):
            prompt = Prompt(1, "Write a word without a comma.", (("punctuation:no_comma", {}),))
            plan = [json.dumps({"plan": [prompt.text]})] if arm.endswith("planned") else []
            llm = model(*plan, "a, b", "a b")

            given = ARMS[arm].answer(Trial(prompt, llm, 2, partial(is_right, prompt)))

            assert (given.output, given.claimed, given.basis) == ("a b", True, "unverified")
            assert 'not use ","' in llm.prompts[-1][-1].text


def test_a_claim_rests_on_the_checks_of_the_task_and_without_any_on_nothing(subtests):
    for task, replies, output, claimed, basis in [
        ("Name a colour in exactly 3 words.", ["red", "a deep red", YES], "a deep red", True, "unverified"),
        ("Name a colour in exactly 3 words.", ["red", "red", "red"], "red", False, None),
        ("Name a colour.", ["7", YES], "7", True, "unverified"),
    ]:
        with subtests.test(task=task, replies=replies):
            prompt, llm = Prompt(1, task, ()), model(*replies)

            given = ARMS["from-task"].answer(Trial(prompt, llm, 2, partial(is_right, prompt)))

            assert (given.output, given.claimed, given.basis) == (output, claimed, basis)
            assert len(llm.prompts) == len(replies)


class Talkative:
    """An arm that writes its prompt to every place, and raises it, as a library that is not ours may do."""

    name = "talkative"
    package = module = ""

    def answer(self, trial):
        sys.stdout.write(trial.prompt.text)
        sys.stderr.write(trial.prompt.text)
        os.write(1, trial.prompt.text.encode())
        os.write(2, trial.prompt.text.encode())
        logging.getLogger("a.library").error(trial.prompt.text)
        raise ValueError(trial.prompt.text)


class Claiming:
    name = "claiming"
    package = module = ""

    def answer(self, trial):
        return Answer(trial.model.invoke("word").text, claimed=True, basis="checked", checks=2, unchecked=1)


class Wordless:
    name = "wordless"
    package = module = ""

    def answer(self, trial):
        return Answer(None, claimed=True)


def measure_all(tmp_path, plan, models):
    with open_records(tmp_path / "tuning.jsonl", SETTINGS) as file:
        measure(plan, models, file)
        return file.records


def test_a_record_has_the_claim_and_what_it_cost(tmp_path):
    records = measure_all(
        tmp_path, Plan([Claiming()], PROMPTS[:1], 1, 3, judge=is_right), source(lambda _: "word 1")
    )

    stored = records["claiming", 1, 0]
    assert (stored.output, stored.right, stored.claimed, stored.basis) == ("word 1", True, True, "checked")
    assert (stored.checks, stored.unchecked, stored.calls, stored.tokens, stored.cut) == (2, 1, 1, 10, 0)


def test_an_arm_that_raises_does_not_stop_the_measurement(tmp_path):
    plan = Plan([Talkative(), Wordless(), OneShot()], PROMPTS[:1], 1, 3, judge=is_right)

    records = measure_all(tmp_path, plan, source(lambda _: "word 1"))

    assert records["talkative", 1, 0].error == "ValueError"
    assert (records["wordless", 1, 0].error, records["wordless", 1, 0].claimed) == ("AttributeError", None)
    assert records["one-shot", 1, 0].right


def test_nothing_of_a_held_out_prompt_is_shown(tmp_path, capfd):
    plan = Plan([Talkative()], PROMPTS, 1, 3, is_secret=True, judge=is_right)

    measure_all(tmp_path, plan, source(lambda _: "word"))

    shown = "".join(capfd.readouterr())
    assert "number" not in shown
    assert "talkative" in shown  # the progress is
    os.write(1, b"still ")
    sys.stdout.write("there")
    assert capfd.readouterr().out == "still there"
