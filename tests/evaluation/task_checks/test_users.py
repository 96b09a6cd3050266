"""What users write, as they write it: few checks are wrong, and few requirements are lost without a word."""

from tests.evaluation.task_checks.users import ROWS, measure


def test_the_set_has_demands_and_mentions():
    demands = [row for row in ROWS if row["checks"] or row["unchecked"]]

    assert len(demands) >= 120
    assert len(ROWS) - len(demands) >= 40


def test_a_mention_of_a_form_gives_no_check():
    assert measure()["mentions with a check"][0] == 0
