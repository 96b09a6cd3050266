"""A measurement: all arms, prompts and seeds, what is stored of each, and what is never shown."""

from __future__ import annotations

import logging
import os
import sys

from benchmarks.effect.arms.base import Answer
from benchmarks.effect.arms.unjudged import OneShot
from benchmarks.effect.measurement import Plan, measure
from benchmarks.effect.records import open_records
from tests.benchmarks.effect.scripted import PROMPTS, SETTINGS, file_in, is_right, source


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
    """An arm that claims with a basis."""

    name = "claiming"
    package = module = ""

    def answer(self, trial):
        return Answer(trial.model.invoke("word").text, claimed=True, basis="checked", checks=2, unchecked=1)


class Wordless:
    """An arm whose library returned no text."""

    name = "wordless"
    package = module = ""

    def answer(self, trial):
        return Answer(None, claimed=True)


def measure_all(tmp_path, plan, models):
    with open_records(file_in(tmp_path), SETTINGS) as file:
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
