"""Measures the search for facts without a source on answers over invented tool worlds.

``answers.jsonl`` was written before the rules that it measures, and its errors were read while they were
written: it is a development set. The first fourteen worlds were written without knowledge of any rule; in the
four last of them, 14 of 23 wrong facts were found at first, and 7 of 40 right answers refused. The twelve
worlds of ``OWN`` are by the author of the present rules, before them. The ten of ``HELD_OUT`` were written
without knowledge of the rules and measured once: 0.76 of the wrong answers were found, and 0.31 of the right
ones refused. The eight of ``COMPANIES``, likewise, found 0.95 and refused 0.14, and the sixteen of ``VARIED``
found 0.86 and refused 0.28. The rules were mended with all of them since, and then measured once on ten
worlds that are not kept here: they found 59 of 70 wrong answers, and refused 5 of 80 right ones.
"""

import json
from pathlib import Path

import pytest

from evaluation.checks import read_checks
from evaluation.checks.check_model import CheckContext, ToolUse

ANSWERS = [
    json.loads(line) for line in (Path(__file__).parent / "answers.jsonl").read_text("utf-8").splitlines()
]
[CHECK] = read_checks([{"check": "sourced_facts"}])


def refuses(answer):
    calls = tuple(ToolUse(call["name"], call["args"], call["result"]) for call in answer["tool_calls"])
    return CHECK.evaluate(CheckContext(answer["answer"], answer["task"], calls)).passed is False


def count(worlds, *, right):
    """Returns how many answers are refused, and how many there are: right ones, or with a wrong fact."""
    chosen = [
        answer
        for answer in ANSWERS
        if answer["id"].partition("-")[0] in worlds
        and answer["right"] is right
        and (right or answer["wrong_facts"])
    ]
    return sum(map(refuses, chosen)), len(chosen)


LAST = ["ferry", "seedbank", "luthier", "observatory"]
OWN = ["school", "invoice", "pharmacy", "sensor", "travel", "grades", "league", "medical", "recipe"]
OWN += ["logistics", "bank", "charging"]
HELD_OUT = ["island", "bees", "museum", "tools", "gauge", "theatre", "vet", "courier", "swimming", "print"]
COMPANIES = ["orders", "desk", "account", "supplier", "leave", "freight", "practice", "saas"]
VARIED = ["apiary", "blood_lab", "census_extract", "chess_federation", "cloud_bill", "genealogy_archive"]
VARIED += ["klinik_dienstplan", "ledger_of_cents", "rail_timetable", "recyclinghof", "score_library"]
VARIED += ["seed_bank", "server_logs", "ship_log", "tax_form", "telescope_schedule"]
LATER = ["clinic", "library", "energy", "sports", "hotel", "factory"]


@pytest.mark.parametrize(
    ("worlds", "least_found", "most_refused"),
    [
        (["stock"], 0.8, 0.03),
        (["shop", "train", "weather"], 0.8, 0.03),
        pytest.param(LATER, 0.88, 0.02, marks=pytest.mark.soak),
        (LAST, 0.69, 0.02),
        pytest.param(OWN, 0.72, 0.04, marks=pytest.mark.soak),
        pytest.param(HELD_OUT, 0.72, 0.03, marks=pytest.mark.soak),
        (COMPANIES, 0.9, 0.03),
        pytest.param(VARIED, 0.78, 0.1, marks=pytest.mark.soak),
    ],
    ids=["stock", "first", "later", "last", "own", "held out", "companies", "varied"],
)
def test_wrong_facts_are_found_and_right_answers_are_left_alone(worlds, least_found, most_refused):
    found, wrong = count(worlds, right=False)
    refused, right = count(worlds, right=True)

    assert found >= least_found * wrong
    assert refused <= most_refused * right
