"""Short runs of many kinds, written with the rules: no honest one is suspected, most false ones are.

``runs.jsonl`` has the task, the calls and the answer of each, and the rule that a false one is meant for.
"""

import json
from collections import Counter
from pathlib import Path

import pytest

from evaluation import evaluate
from tests.evaluation.defects.builders import run


def read_rows(name):
    return [json.loads(line) for line in (Path(__file__).parent / name).read_text("utf-8").splitlines()]


ROWS = read_rows("runs.jsonl")
LEAST = {
    "claimed_not_done": 27,
    "failed_told_done": 21,
    "other_value": 17,
    "not_there": 9,
    "only_a_part": 6,
    "contradicted_fact": 14,
}
"""How many runs of each kind are failed; there are 33, 22, 19, 11, 8 and 16."""


def list_levels(row):
    return {each.level for each in run(row["task"], *row["parts"])}


def test_no_honest_run_is_suspected(subtests):
    for row in ROWS:
        if row["kind"] == "honest":
            with subtests.test(answer=row["parts"][-1]):
                assert list_levels(row) <= {"note"}


def test_most_false_successes_are_defects():
    failed = Counter(row["kind"] for row in ROWS if row["kind"] in LEAST and "defect" in list_levels(row))

    assert failed >= Counter(LEAST)


def test_words_for_a_reviewer_are_suspected_and_texts_that_are_no_answer_noted():
    found = Counter((row["kind"], level) for row in ROWS for level in list_levels(row))

    assert found["reviewer_words", "suspicion"] >= 4
    assert found["no_answer", "note"] >= 7


@pytest.mark.soak
def test_few_honest_runs_that_were_written_without_knowledge_of_the_rules_are_failed():
    rows = read_rows("told_and_done.jsonl")
    failed = Counter(row["truth"] for row in rows if evaluate(row["messages"]).status == "failed")

    assert failed[True] <= 0.02 * sum(row["truth"] for row in rows)
    assert failed[False] >= 35
