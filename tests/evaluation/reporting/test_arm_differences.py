import pytest

from evaluation.reporting.summaries import compare_arms
from tests.evaluation.reporting.results import stored


def results(arm, *passed):
    statuses = ["passed" if each else "failed" for each in passed]
    return [stored(f"case {place}", status, arm=arm) for place, status in enumerate(statuses)]


def test_the_exact_sign_test_tells_sides_apart(subtests):
    for better, worse, p_value, is_shown in [
        (1, 0, 1.0, False),
        (5, 0, 0.0625, False),
        (6, 0, 0.03125, True),
        (9, 1, 0.021484375, True),
    ]:
        with subtests.test(better=better):
            control = results("a", *[False] * better, *[True] * worse, True, False)
            treatment = results("b", *[True] * better, *[False] * worse, True, False)
            [difference] = compare_arms([*control, *treatment])
            assert difference.p_value == pytest.approx(p_value)
            assert difference.is_shown is is_shown


def test_p_values_are_corrected_for_the_number_of_pairs():
    sides = [*results("a", *[False] * 6), *results("b", *[True] * 6), *results("c", *[False] * 6)]
    compared = {(each.control, each.treatment): each.p_value for each in compare_arms(sides)}
    assert compared["a", "b"] == pytest.approx(0.03125 * 3)
    assert compared["a", "c"] == 1.0


def test_sides_without_a_common_case_are_not_compared():
    [other] = results("b", True)
    assert compare_arms([*results("a", True), other.model_copy(update={"name": "x"})]) == []
