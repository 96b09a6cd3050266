"""Measures the search for facts without a source on answers over invented tool worlds.

``answers.jsonl`` was written without knowledge of the rules. The world "stock" was not looked at while the
rules were written; of "shop", "train" and "weather" the errors were read.
"""

import json
from pathlib import Path

import pytest

from evaluation.checks import read_checks
from evaluation.checks.context import CheckContext, ToolUse

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


@pytest.mark.parametrize("worlds", [["stock"], ["shop", "train", "weather"]], ids=["held out", "looked at"])
def test_wrong_facts_are_found_and_right_answers_are_left_alone(worlds):
    found, wrong = count(worlds, right=False)
    refused, right = count(worlds, right=True)

    assert found >= 0.8 * wrong
    assert refused <= 0.03 * right
