"""Answers over invented tool worlds: nearly no right one is refused, and some wrong ones are found.

``answers.jsonl`` was written before these rules, for others. A number without a source is a note, so most of
its wrong answers are not found; what is found is nearly always wrong.
"""

import json
from pathlib import Path

from tests.evaluation.defects.builders import judge_answer

LINES = (Path(__file__).parent / "answers.jsonl").read_text("utf-8").splitlines()


def count_defects(*, right):
    answers = [answer for answer in map(json.loads, LINES) if answer["right"] is right]
    found = [judge_answer(each["task"], each["tool_calls"], each["answer"]) for each in answers]
    return sum("defect" in levels for levels in found) / len(found)


def test_right_answers_are_not_refused():
    assert count_defects(right=True) <= 0.01


def test_wrong_answers_are_found():
    assert count_defects(right=False) >= 0.06
