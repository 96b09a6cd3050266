"""The tools that are compared, and the failed, forbidden and unreadable calls."""

import pytest

from tests.evaluation.metrics.trajectory.builders import either, match, seen, step


def test_a_step_is_left_out_only_if_all_its_alternatives_are():
    expected = [either(step("read"), step("a"))]

    assert match(["a"], expected, "exact", ignored_tools=["read"]).agrees
    assert match([], expected, "exact", ignored_tools=["read"]).missing_actions == ("read | a",)
    assert match([], expected, "exact", ignored_tools=["read", "a"]).expected_count == 0


@pytest.mark.parametrize(
    ("failed_calls", "agrees", "passed", "count"),
    [
        ("extra", False, False, 1),
        ("ignore", False, False, 0),
        ("count", True, True, 1),
        ("fail", False, False, 1),
    ],
)
def test_a_failed_call_is_worth_what_the_rules_say(failed_calls, agrees, passed, count):
    result = match([seen("a", failed=True)], ["a"], failed_calls=failed_calls)

    assert (result.agrees, result.passed, result.actual_count) == (agrees, passed, count)
    assert result.failed_calls == ("a",)


@pytest.mark.parametrize("mode", ["exact", "subset", "precision_recall"])
def test_a_call_that_is_made_again_is_an_extra_one_unless_failed_calls_are_left_out(mode):
    actual = [seen("a", failed=True), "a"]

    result = match(actual, ["a"], mode)

    assert (result.agrees, result.extra_actions) == (False, ("a",))
    assert match(actual, ["a"], mode, failed_calls="ignore").agrees
    assert match(actual, ["a"], "in_order").agrees


def test_a_failed_call_of_an_ignored_tool_is_no_failure():
    result = match([seen("read", failed=True), "a"], ["a"], failed_calls="fail", ignored_tools=["read"])

    assert (result.passed, result.failed_calls) == (True, ())


@pytest.mark.parametrize("rules", [{}, {"ignored_tools": ["drop"]}, {"failed_calls": "ignore"}])
def test_a_forbidden_action_is_a_failure_whatever_is_left_out(rules):
    result = match(["a", seen("drop", failed=True)], ["a"], forbidden_tools=["drop"], **rules)

    assert (result.agrees, result.passed, result.forbidden_actions) == (True, False, ("drop",))


def test_unreadable_arguments_are_told_of_compared_calls_only():
    broken = [seen("a", args_error="no JSON"), seen("read", args_error="no JSON")]

    assert match(broken, ["a"], ignored_tools=["read"]).unreadable_arguments == ("a",)


@pytest.mark.parametrize(
    ("actual", "expected", "rules", "counts"),
    [
        (["read", "a"], ["a", "read"], {"ignored_tools": ["read"]}, (1, 1)),
        (["x", "a"], ["a", "y"], {"compared_tools": ["a"]}, (1, 1)),
        (["a"], [], {"compared_tools": ["a"], "ignored_tools": ["a"]}, (0, 0)),
        (["a", seen("b", failed=True), "c", "b"], ["a", "c", "b"], {"failed_calls": "ignore"}, (3, 3)),
        (["a"], ["a"], {"failed_calls": "fail", "forbidden_tools": ["drop"]}, (1, 1)),
    ],
)
def test_what_is_left_out_is_left_out_on_both_sides(actual, expected, rules, counts):
    result = match(actual, expected, "exact", **rules)

    assert (result.passed, (result.actual_count, result.expected_count)) == (True, counts)
