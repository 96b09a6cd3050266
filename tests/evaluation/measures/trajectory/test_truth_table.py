"""The published truth table holds, is current, and explains every other answer."""

from tests.evaluation.measures.trajectory.truth_table import (
    KITS,
    read_peers,
    read_rows,
    read_verdict,
)

ROWS = read_rows()


def test_a_row_of_the_table_is_answered_as_it_says(subtests):
    for row in ROWS:
        with subtests.test(row=row):
            assert row.match().passed is row.passed


def test_rows_are_numbered_and_no_case_stands_twice():
    cases = [(row.mode, str(row.actual), str(row.expected), str(row.rules)) for row in ROWS]

    assert [row.row for row in ROWS] == list(range(1, len(ROWS) + 1))
    assert len(set(cases)) == len(ROWS) >= 60


def test_every_answer_of_another_kit_that_differs_is_explained_and_no_other(subtests):
    for kit in KITS:
        with subtests.test(kit=kit):
            answers = read_peers()["answers"]
            differing = {
                row.row
                for row in ROWS
                if kit in answers.get(str(row.row), {})
                and read_verdict(answers[str(row.row)][kit]) is not row.passed
            }

            assert differing == {row.row for row in ROWS if kit in row.why}
