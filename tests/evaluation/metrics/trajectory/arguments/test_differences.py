"""The differences between arguments under every rule."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.inputs.trajectory_rules import ArgumentRule
from evaluation.metrics.trajectory.arguments.differences import (
    Difference,
    find_differences,
    is_within_tolerance,
)
from evaluation.metrics.trajectory.arguments.equality import are_equal
from tests.evaluation.metrics.trajectory.arguments.test_equality import values

objects = st.dictionaries(st.sampled_from("abc"), values, max_size=3)


def find_all(expected, observed, match="exact", **options):
    return list(find_differences(expected, observed, ArgumentRule(match=match, **options)))


def paths(expected, observed, match="exact", **options):
    return [
        (difference.path, difference.problem) for difference in find_all(expected, observed, match, **options)
    ]


@given(objects, objects)
def test_arguments_differ_nowhere_exactly_if_they_are_equal(expected, observed):
    assert (find_all(expected, observed) == []) is are_equal(expected, observed)


@given(objects, objects)
def test_what_is_a_subset_and_a_superset_is_equal(expected, observed):
    both = not find_all(expected, observed, "subset") and not find_all(expected, observed, "superset")

    assert both is are_equal(expected, observed)


@given(objects, objects)
def test_a_subset_read_the_other_way_round_is_a_superset(expected, observed):
    assert (find_all(expected, observed, "subset") == []) is (find_all(observed, expected, "superset") == [])


def test_a_value_that_is_on_one_side_only_is_shown():
    assert find_all({"a": 1}, {}) == [Difference("/a", "missing", 1, None)]
    assert find_all({}, {"a": 1}) == [Difference("/a", "unexpected", None, 1)]
    assert find_all({"a": [1]}, {"a": [1, 2]}) == [Difference("/a/1", "unexpected", None, 2)]
    assert find_all({"a": [1, 2]}, {"a": [1]}) == [Difference("/a/1", "missing", 2, None)]


@pytest.mark.parametrize(
    ("expected", "observed", "match", "where"),
    [
        ({"a": 1}, {}, "exact", [("/a", "missing")]),
        ({}, {"a": 1}, "exact", [("/a", "unexpected")]),
        ({"a": None}, {}, "exact", [("/a", "missing")]),
        ({"a": [1]}, {"a": [1, 2]}, "exact", [("/a/1", "unexpected")]),
        ({"a": [1, 2]}, {"a": [1]}, "exact", [("/a/1", "missing")]),
        ({"a": [1]}, {"a": {"b": 1}}, "exact", [("/a", "different")]),
        ({"a": {"b": 1}}, {"a": {"b": 1, "c": 2}}, "superset", []),
        ({"a": {"b": 1}}, {"a": {}}, "superset", [("/a/b", "missing")]),
        ({"a": {"b": 1, "c": 2}}, {"a": {"b": 1}}, "subset", []),
        ({"a": {}}, {"a": {"b": 1}}, "subset", [("/a/b", "unexpected")]),
        ({"a": [{"b": 1}]}, {"a": [{"b": 1, "c": 2}]}, "superset", []),
        ({"a": [1]}, {"a": [1, 2]}, "superset", [("/a/1", "unexpected")]),
        ({"a": [1, 2]}, {"a": [1]}, "subset", [("/a/1", "missing")]),
        ({"a": 1}, {"a": 2}, "ignore", []),
        ({"a": 1, "b": 1}, {"a": 2, "b": 2}, "exact", [("/a", "different"), ("/b", "different")]),
    ],
)
def test_differences_are_found_by_rule(expected, observed, match, where):
    assert paths(expected, observed, match) == where


@pytest.mark.parametrize(
    ("expected", "observed", "where"),
    [
        ({"a": 1, "b": 1}, {"a": 1, "b": 2}, []),
        ({"a": 1}, {"a": 2}, [("/a", "different")]),
        ({"a": 1}, {}, [("/a", "missing")]),
        ({}, {"a": 1}, [("/a", "unexpected")]),
        ({"b": 1}, {"b": 2}, []),
        ({"a": {"x": 1}}, {"a": {"x": 1, "y": 2}}, [("/a/y", "unexpected")]),
    ],
)
def test_named_arguments_alone_are_compared(expected, observed, where):
    assert paths(expected, observed, "named", names=["a"]) == where


@pytest.mark.parametrize("wrong", [True, "1", None, [1], {"b": 1}])
def test_a_tolerance_is_for_numbers_only(wrong):
    assert paths({"a": 1}, {"a": wrong}, tolerance=5) == [("/a", "different")]
    assert paths({"a": wrong}, {"a": 1}, tolerance=5) == [("/a", "different")]


@pytest.mark.parametrize(
    ("expected", "observed", "tolerance", "close"),
    [
        (1, 2, 1, True),
        (2, 1, 1, True),
        (1, 3, 1, False),
        (1.0, 1.1, 0.1, True),
        (1.1, 1.0, 0.1, True),
        (1.0, 1.11, 0.1, False),
        (1000.0, 1000.1, 0.1, True),
        (10**400, 10**400 + 1, 1, True),
        (10**400, 10**400 + 2, 1, False),
        (10**400, 1.5, 1, False),
        (1.5, 10**400, 1e300, False),
        (1e308, -1e308, 1, False),
        (2**53, 2**53 + 2, 1, False),
        (2**60 + 2, 2**60, 1, False),
        (-1.5, -1.0, 0.5, True),
        (1.0, 1.0 + 2 * 2**-52, 2**-52, True),
        (1.0, 1.0 + 3 * 2**-52, 2**-52, False),
        (2**1024, 2.0**1023, 2.0**1023, True),
        (2**1024 + 1, 2.0**1023, 2.0**1023, False),
    ],
)
def test_numbers_are_within_a_tolerance_whatever_their_size(expected, observed, tolerance, close):
    assert is_within_tolerance(expected, observed, tolerance) is close


@pytest.mark.parametrize(
    ("expected", "observed", "same"),
    [("Straße", "STRASSE", True), ("no", "NON", False), ("\ufb03", "FFI", True), ("FFI", "\ufb03", True)],
)
def test_case_is_ignored_at_every_level_if_the_rule_says_so(expected, observed, same):
    sides = {"a/b~c": [{"b": expected}]}, {"a/b~c": [{"b": observed}]}

    assert paths(*sides) == [("/a~1b~0c/0/b", "different")]
    assert (paths(*sides, ignore_case=True) == []) is same
    assert find_all(*sides, "custom", function="same") == []
