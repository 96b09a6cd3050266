"""The published truth table holds, is current, and explains every other answer."""

import pytest

from tests.evaluation.measures.trajectory.truth_table import (
    KITS,
    read_peers,
    read_rows,
    read_verdict,
)

ROWS = read_rows()


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.row}-{row.mode}-{row.says}")
def test_a_row_of_the_table_is_answered_as_it_says(row):
    assert row.match().passed is row.passed


def test_rows_are_numbered_and_no_case_stands_twice():
    cases = [(row.mode, str(row.actual), str(row.expected), str(row.rules)) for row in ROWS]

    assert [row.row for row in ROWS] == list(range(1, len(ROWS) + 1))
    assert len(set(cases)) == len(ROWS) >= 60


@pytest.mark.parametrize("kit", KITS)
def test_every_answer_of_another_kit_that_differs_is_explained_and_no_other(kit):
    answers = read_peers()["answers"]
    differing = {
        row.row
        for row in ROWS
        if kit in answers.get(str(row.row), {}) and read_verdict(answers[str(row.row)][kit]) is not row.passed
    }

    assert differing == {row.row for row in ROWS if kit in row.why}
