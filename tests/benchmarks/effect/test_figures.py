"""The figures of an arm from given records, and the width of their intervals."""

from __future__ import annotations

import random

import pytest

from benchmarks.effect.figures import clustered_rate, compute_figures
from benchmarks.effect.records import open_records
from benchmarks.effect.report import format_report
from tests.benchmarks.effect.scripted import SETTINGS, file_in, record
from tests.benchmarks.effect.test_measurement import Claiming, NotInstalled

LINES = [
    record("claiming", 1, right=True, claimed=True, basis="checked", tokens=10, unchecked=0, checks=1),
    record("claiming", 2, right=True, claimed=False, calls=3, tokens=30, unchecked=1, checks=1),
    record("claiming", 3, claimed=True, basis="unverified", calls=2, tokens=20, unchecked=0, checks=0),
    record("claiming", 4, right=True, claimed=True, basis="checked", calls=2, tokens=20, cut=2, unchecked=0),
]


def values(rate):
    return rate.successes, rate.trials


def test_figures_of_a_file(tmp_path):
    with open_records(file_in(tmp_path), SETTINGS) as file:
        for line in LINES:
            file.add(line)
    with open_records(file_in(tmp_path), SETTINGS) as file:
        figures = compute_figures([*file.records.values()])

    assert (figures.runs, figures.prompts) == (4, 4)
    assert values(figures.claimed) == (3, 4)
    assert values(figures.precision) == (2, 3)
    assert values(figures.recall) == (2, 3)
    assert values(figures.strict) == (3, 4)
    assert values(figures.cut) == (2, 8)
    assert (figures.calls.value, figures.tokens.value, figures.seconds.value) == (2.0, 20.0, 1.0)
    assert figures.calls.interval == pytest.approx((2 - 3.1824 * 0.4082, 2 + 3.1824 * 0.4082), abs=1e-3)


def test_intervals_of_repeated_prompts_hold_their_confidence():
    # Each prompt is easy or hard, so that its answers are alike: a rate of 0.5 on average.
    draw = random.Random(1)
    held = 0
    for _ in range(400):
        easy = [draw.choice((0.1, 0.9)) for _ in range(30)]
        rate = clustered_rate((prompt, draw.random() < p) for prompt, p in enumerate(easy) for _ in range(5))
        held += rate.interval.low <= 0.5 <= rate.interval.high

    assert held / 400 >= 0.93


def test_the_report_has_a_row_for_each_arm_and_basis_and_no_text_of_an_output():
    lines = [line.model_copy(update={"output": "a secret"}) for line in LINES]

    report = list(format_report(lines, [Claiming()], [NotInstalled()]))

    rows = [line.split("|")[1].strip() for line in report if line.startswith("|") and "---" not in line]
    assert rows == [
        "arm",
        "claiming",
        "claiming, basis checked",
        "claiming, basis unverified",
        "not-installed",
    ]
    assert "uv run --with no_such_library" in "\n".join(report)
    assert "with nothing unchecked 3/4 0.75" in "\n".join(report)
    assert "secret" not in "\n".join(report)
    assert len({line.count("|") for line in report if line.startswith("|")}) == 1
