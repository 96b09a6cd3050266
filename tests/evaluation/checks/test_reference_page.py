"""The reference page of the checks is current, and all but two kinds of IFEval can be said."""

from tests.evaluation.checks.ifeval import TO_CHECKS, load_official
from tests.evaluation.checks.reference import build_table, read_table


def test_the_table_of_checks_is_current():
    assert read_table() == build_table(), "python -m tests.evaluation.checks.reference writes it"


def test_each_kind_of_ifeval_but_two_can_be_said():
    assert set(load_official()) - set(TO_CHECKS) == {
        "detectable_format:multiple_sections",
        "length_constraints:nth_paragraph_first_word",
    }
