"""Which argument was wrong: the closest action of the same name."""

import pytest

from evaluation.metrics.trajectory.match_result import ArgumentMismatch
from tests.evaluation.metrics.trajectory.builders import either, match, seen, step


def pairs(actual, expected, **rules):
    result = match(actual, expected, "any_order", **rules).argument_mismatches
    return [(mismatch.expected_index, mismatch.observed_index, mismatch.path) for mismatch in result]


def test_a_mismatch_says_where_it_is_and_what_is_there():
    result = match(["b", seen("a", {"x": [1, 2]})], ["b", step("a", {"x": [1, 3]})])

    assert result.argument_mismatches == (ArgumentMismatch("a", 1, 1, "/x/1", "different", 3, 2),)
    assert not result.mismatches_truncated


def test_places_count_actions_and_steps_as_given():
    result = match(
        ["read", seen("a", {"x": 2})], ["read", "read", step("a", {"x": 1})], ignored_tools=["read"]
    ).argument_mismatches

    assert [(mismatch.expected_index, mismatch.observed_index) for mismatch in result] == [(2, 1)]


def test_a_callers_refusal_shows_both_arguments():
    result = match(
        [seen("a", {"x": 2})],
        [step("a", {"x": 1})],
        arguments={"match": "custom", "function": "never"},
        functions={"never": lambda mismatch, other: False},
    ).argument_mismatches

    assert result == (ArgumentMismatch("a", 0, 0, "", "refused", {"x": 1}, {"x": 2}),)


def test_at_most_twenty_differences_of_a_pair_are_listed():
    expected = {str(index): 1 for index in range(21)}

    assert len(match([seen("a", {})], [step("a", expected)]).argument_mismatches) == 20


def test_at_most_a_hundred_differences_are_listed_and_the_rest_is_told():
    def result(count):
        return match([seen("a", {"x": 1})] * count, [step("a", {"x": 2})] * count)

    assert (len(result(100).argument_mismatches), result(100).mismatches_truncated) == (100, False)
    assert (len(result(101).argument_mismatches), result(101).mismatches_truncated) == (100, True)


FAR, NEAR = seen("a", {"x": 0, "y": 0}), seen("a", {"x": 1, "y": 0})
ANN = step("a", {"x": 1}, agent="ann", target="bob", kind="handoff")


@pytest.mark.parametrize(
    ("actual", "expected", "found"),
    [
        (["a"], ["a"], []),
        # Each missing step is paired with the closest action of its name, each action once.
        (
            [seen("a", {"x": 2, "y": 3}), seen("a", {"x": 1, "y": 3})],
            [step("a", {"x": 1, "y": 1}), step("a", {"x": 2, "y": 2})],
            [(0, 1, "/y"), (1, 0, "/y")],
        ),
        ([seen("a", {"x": 3})], [step("a", {"x": 1}), step("a", {"x": 2})], [(0, 0, "/x")]),
        ([seen("a", {"x": 2}), seen("a", {"x": 3})], [step("a", {"x": 1})], [(0, 0, "/x")]),
        (
            [seen("a", {"x": 2}), seen("a", {"x": 5})],
            [step("a", {"x": 1}), step("a", {"x": 2})],
            [(0, 1, "/x")],
        ),
        ([seen("b", {"x": 2})], [step("a", {"x": 1})], []),
        ([seen("b", {"x": 2})], ["a", step("b", {"x": 1})], [(1, 0, "/x")]),
        ([seen("a", {"x": 2})], [step("a", {"x": 1}, optional=True)], []),
        ([seen("b", {"y": 2})], [either(step("a", {"x": 1}), step("b", {"y": 1}))], [(0, 0, "/y")]),
        # At most eight actions are tried.
        ([*[FAR] * 7, NEAR], [step("a", {"x": 1, "y": 1})], [(0, 7, "/y")]),
        ([*[FAR] * 8, NEAR], [step("a", {"x": 1, "y": 1})], [(0, 0, "/x"), (0, 0, "/y")]),
        # Who acted is named without a slash.
        ([seen("a", {"x": 1}, agent="eve", kind="handoff")], [ANN], [(0, 0, "agent"), (0, 0, "target")]),
        ([seen("a", {"x": 2}, agent="ann", target="bob")], [ANN], [(0, 0, "kind"), (0, 0, "/x")]),
        ([seen("a", {"x": 1}, agent="eve")], [step("a", agent="ann")], [(0, 0, "agent")]),
    ],
)
def test_the_differences_of_the_closest_action_are_listed(actual, expected, found):
    assert pairs(actual, expected) == found


def test_unreadable_arguments_are_a_difference_unless_they_are_ignored():
    actual, expected = [seen("a", args_error="no JSON")], [step("a", {"x": 1}, agent="ann")]

    assert match(actual, expected).argument_mismatches == (
        ArgumentMismatch("a", 0, 0, "agent", "different", "ann", None),
        ArgumentMismatch("a", 0, 0, "", "unreadable", {"x": 1}, "no JSON"),
    )
    assert pairs(actual, expected, arguments={"match": "ignore"}) == [(0, 0, "agent")]
