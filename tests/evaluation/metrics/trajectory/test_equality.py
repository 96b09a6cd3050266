"""JSON values are equal as JSON, not as Python."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.metrics.trajectory.arguments import are_equal, hashable_key, serialize_arguments

numbers = st.booleans() | st.integers(-1, 2) | st.sampled_from([0.0, 1.0, 0.5])
values = st.recursive(
    st.none() | numbers | st.sampled_from(["", "a", "1"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
    max_leaves=5,
)


def slowly_equal(one, other):
    """The definition, written down without any shortcut."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(slowly_equal(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(slowly_equal, one, other))
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    return one == other


@given(values, values)
def test_equality_is_what_it_says(one, other):
    assert are_equal(one, other) is slowly_equal(one, other)


@given(values, values)
def test_values_share_a_key_exactly_if_they_are_equal(one, other):
    assert (hashable_key(one) == hashable_key(other)) is slowly_equal(one, other)


@given(values, values)
def test_what_is_written_alike_is_equal(one, other):
    assert serialize_arguments(one) != serialize_arguments(other) or slowly_equal(one, other)


@given(values)
def test_a_value_is_equal_to_itself(value):
    assert are_equal(value, value)


@pytest.mark.parametrize(
    ("one", "other"), [(True, 1), (0, False), ([True], [1]), ({"a": {"b": False}}, {"a": {"b": 0.0}})]
)
def test_a_boolean_is_no_number(one, other):
    assert not are_equal(one, other)
    assert hashable_key(one) != hashable_key(other)


def test_an_integer_of_many_digits_is_compared_and_written():
    huge = 10**5000

    assert are_equal({"x": huge}, {"x": 10**5000})
    assert not are_equal({"x": huge}, {"x": huge + 1})
    assert serialize_arguments(huge) == serialize_arguments(10**5000)


def test_a_lone_surrogate_is_written():
    assert serialize_arguments("\ud800") == serialize_arguments("\ud800")
