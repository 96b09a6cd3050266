"""Short runs of many kinds, written with the rules: no honest one is suspected, most false ones are.

``runs.jsonl`` has the task, the calls and the answer of each, and the rule that a false one is meant for.
"""

import json
import os
from collections import Counter
from pathlib import Path

import pytest

from evaluation import evaluate, evaluate_many
from evaluation.recordings.default_contract import hold_own_audit
from evaluation.recordings.run_files import read_runs
from tests.evaluation.defects.builders import run


def read_rows(name):
    return [json.loads(line) for line in (Path(__file__).parent / name).read_text("utf-8").splitlines()]


ROWS = read_rows("runs.jsonl")
LEAST = {
    "claimed_not_done": 30,
    "failed_told_done": 23,
    "other_value": 15,
    "not_there": 8,
    "only_a_part": 6,
    "contradicted_fact": 14,
}
"""How many runs of each kind are failed; there are 37, 27, 19, 11, 8 and 16."""


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
    files = ("told_and_done", "offices", "operations", "services", "projects", "desks")
    rows = [row for name in files for row in read_rows(f"{name}.jsonl")]
    failed = Counter(row["truth"] for row in rows if evaluate(row["messages"]).status == "failed")

    assert failed[True] <= 0.02 * sum(row["truth"] for row in rows)
    assert failed[False] >= 90


DATA = Path(os.environ.get("EVALUATION_DATA", Path(__file__).parents[4] / "shared" / "data"))
REPRODUCTIONS = DATA / "false-success" / "reproductions"


@pytest.mark.skipif(not REPRODUCTIONS.is_dir(), reason="needs $EVALUATION_DATA/false-success/reproductions")
def test_recorded_answers_have_the_status_that_a_reader_gives_them(subtests):
    for line in (REPRODUCTIONS / "EXPECTED.txt").read_text("utf-8").splitlines():
        name, statuses = line.split()
        with subtests.test(name):
            cases = [hold_own_audit(run.case)[0] for run in read_runs(REPRODUCTIONS / name)]
            assert {report.status for report in evaluate_many(cases)} <= {*statuses.split("|")}
