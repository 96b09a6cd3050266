"""Measures the search for facts without a source on answers over invented tool worlds.

``answers.jsonl`` was written without knowledge of the rules. The world "stock" was not looked at while the
rules were written; of the others the errors were read. Before that, 67 of 78 wrong facts were found in the
six later worlds, and 14 of 90 right answers were refused, most of them because of tables in text. In
the four last worlds, 14 of 23 and 7 of 40, before fractions, "the two" and shares of a sum in the answer were
mended.
"""

import json
from pathlib import Path

import pytest

from evaluation.checks import read_checks
from evaluation.checks.check_context import CheckContext, ToolUse

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
LATER = ["clinic", "library", "energy", "sports", "hotel", "factory"]


@pytest.mark.parametrize(
    ("worlds", "least_found", "most_refused"),
    [
        (["stock"], 0.8, 0.03),
        (["shop", "train", "weather"], 0.8, 0.03),
        (LATER, 0.8, 0.05),
        (LAST, 0.6, 0.08),
    ],
    ids=["held out", "looked at", "later", "last"],
)
def test_wrong_facts_are_found_and_right_answers_are_left_alone(worlds, least_found, most_refused):
    found, wrong = count(worlds, right=False)
    refused, right = count(worlds, right=True)

    assert found >= least_found * wrong
    assert refused <= most_refused * right
