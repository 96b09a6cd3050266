"""Which argument was wrong: the closest action of the same name."""

from evaluation.metrics.trajectory import ArgumentMismatch
from tests.evaluation.metrics.trajectory.builders import either, match, seen, step


def pairs(actual, expected, **rules):
    result = match(actual, expected, "any_order", **rules).argument_mismatches
    return [(mismatch.expected_index, mismatch.observed_index, mismatch.path) for mismatch in result]


def test_a_mismatch_says_where_it_is_and_what_is_there():
    result = match(["b", seen("a", {"x": [1, 2]})], ["b", step("a", {"x": [1, 3]})])

    assert result.argument_mismatches == (ArgumentMismatch("a", 1, 1, "/x/1", "different", 3, 2),)
    assert not result.mismatches_truncated


def test_a_missed_step_is_paired_with_the_closest_action_of_its_name():
    expected = [step("a", {"x": 1, "y": 1}), step("a", {"x": 2, "y": 2})]
    actual = [seen("a", {"x": 2, "y": 3}), seen("a", {"x": 1, "y": 3})]

    assert pairs(actual, expected) == [(0, 1, "/y"), (1, 0, "/y")]


def test_where_nothing_was_missed_no_mismatch_is_listed_or_left_out():
    result = match(["a"], ["a"])

    assert (result.argument_mismatches, result.mismatches_truncated) == ((), False)


def test_each_action_is_paired_once():
    assert pairs([seen("a", {"x": 3})], [step("a", {"x": 1}), step("a", {"x": 2})]) == [(0, 0, "/x")]


def test_the_first_of_equally_close_actions_is_taken():
    assert pairs([seen("a", {"x": 2}), seen("a", {"x": 3})], [step("a", {"x": 1})]) == [(0, 0, "/x")]


def test_an_action_that_stands_for_another_step_is_not_blamed():
    expected = [step("a", {"x": 1}), step("a", {"x": 2})]

    assert pairs([seen("a", {"x": 2}), seen("a", {"x": 5})], expected) == [(0, 1, "/x")]


def test_an_action_of_another_name_is_no_mismatch():
    assert pairs([seen("b", {"x": 2})], [step("a", {"x": 1})]) == []


def test_an_optional_step_that_was_left_out_is_not_missed():
    assert pairs([seen("a", {"x": 2})], [step("a", {"x": 1}, optional=True)]) == []


def test_a_missed_alternative_is_compared_with_the_pattern_of_its_name():
    expected = either(step("a", {"x": 1}), step("b", {"y": 1}))

    assert pairs([seen("b", {"y": 2})], [expected]) == [(0, 0, "/y")]


def test_places_count_actions_and_steps_as_given():
    result = match(
        ["read", seen("a", {"x": 2})], ["read", "read", step("a", {"x": 1})], ignored_tools=["read"]
    ).argument_mismatches

    assert [(mismatch.expected_index, mismatch.observed_index) for mismatch in result] == [(2, 1)]


def test_who_acted_towards_whom_and_how_are_named_without_a_slash():
    expected = [step("a", {"x": 1}, agent="ann", target="bob", kind="handoff")]

    assert pairs([seen("a", {"x": 1}, agent="eve", kind="handoff")], expected) == [
        (0, 0, "agent"),
        (0, 0, "target"),
    ]
    assert pairs([seen("a", {"x": 2}, agent="ann", target="bob")], expected) == [(0, 0, "kind"), (0, 0, "/x")]


def test_the_wrong_agent_is_shown_beside_the_right_one():
    result = match([seen("a", agent="eve")], [step("a", agent="ann")]).argument_mismatches

    assert result == (ArgumentMismatch("a", 0, 0, "agent", "different", "ann", "eve"),)


def test_a_step_that_takes_any_arguments_is_missed_for_who_acted_alone():
    result = match([seen("a", {"x": 1}, agent="eve")], [step("a", agent="ann")]).argument_mismatches

    assert [mismatch.path for mismatch in result] == ["agent"]


def test_steps_after_one_that_has_no_counterpart_are_compared_too():
    assert pairs([seen("b", {"x": 2})], ["a", step("b", {"x": 1})]) == [(1, 0, "/x")]


def test_unreadable_arguments_are_told_as_such():
    result = match([seen("a", args_error="no JSON")], [step("a", {"x": 1})]).argument_mismatches

    assert result == (ArgumentMismatch("a", 0, 0, "", "unreadable", {"x": 1}, "no JSON"),)


def test_unreadable_arguments_that_are_ignored_are_not_told():
    expected = [step("a", {"x": 1}, agent="ann")]

    assert pairs([seen("a", args_error="no JSON")], expected, arguments={"match": "ignore"}) == [
        (0, 0, "agent")
    ]


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


def test_the_closest_is_looked_for_among_the_first_eight():
    far, near = seen("a", {"x": 0, "y": 0}), seen("a", {"x": 1, "y": 0})
    expected = [step("a", {"x": 1, "y": 1})]

    assert pairs([*[far] * 7, near], expected) == [(0, 7, "/y")]
    assert pairs([*[far] * 8, near], expected) == [(0, 0, "/x"), (0, 0, "/y")]
