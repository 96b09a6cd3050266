from hypothesis import given
from hypothesis import strategies as st

from evaluation.contract.contract import ArgumentRule
from evaluation.measures.action_differences import compare_arguments
from tests.evaluation.measures.trajectory.builders import match, seen, step

leaves = st.none() | st.booleans() | st.integers(-1, 2) | st.sampled_from([0.0, 1.0, 0.5, "", "1"])
values = st.recursive(
    leaves,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
    max_leaves=4,
)
objects = st.dictionaries(st.sampled_from("abc"), values, max_size=3)


def write(value):
    if isinstance(value, dict):
        return {name: write(each) for name, each in value.items()}
    return [*map(write, value)] if isinstance(value, list) else (isinstance(value, bool), value)


def differ(expected, observed, **rule):
    return [each[:2] for each in compare_arguments(expected, observed, ArgumentRule(**rule))]


@given(objects, objects)
def test_arguments_differ_nowhere_exactly_if_they_are_equal(expected, observed):
    assert (not differ(expected, observed)) is (write(expected) == write(observed))
    more, less = (differ(*sides, match="superset") for sides in ((expected, observed), (observed, expected)))
    assert (not more and not less) is (not differ(expected, observed))


SUPERSET = {"match": "superset"}


def test_arguments_are_compared_by_their_rule(subtests):
    for expected, observed, rule, differences in [
        ({"a": 1}, {}, {}, [("/a", "missing")]),
        ({}, {"a": 1}, {}, [("/a", "unexpected")]),
        ({}, {"a": 1}, SUPERSET, []),
        ({"a": None}, {}, SUPERSET, [("/a", "missing")]),
        ({"a": {"b": 1}}, {"a": {"b": 1, "c": 2}}, SUPERSET, []),
        ({"a": [1]}, {"a": [1, 2]}, SUPERSET, [("/a", "different")]),
        ({"a": [{"b": 1}]}, {"a": [{"b": 2}]}, {}, [("/a/0/b", "different")]),
        ({"a/b": {"~": 1}}, {"a/b": {"~": 2}}, {}, [("/a~1b/~0", "different")]),
        ({}, {"a/b": 1}, {}, [("/a~1b", "unexpected")]),
        ({"a": 1}, {"a": True}, {}, [("/a", "different")]),
        ({"a": 1}, {"a": 1.0}, {}, []),
        ({"a": 1, "b": 2}, {"a": 1, "b": 3}, {"match": "named", "names": ["a", "c"]}, []),
        ({"a": 1}, {"b": 1}, {"match": "named", "names": ["a"]}, [("/a", "missing")]),
    ]:
        with subtests.test(expected=expected, observed=observed, rule=rule):
            assert differ(expected, observed, **rule) == differences


def test_unreadable_arguments_agree_only_with_a_rule_that_ignores_them(subtests):
    for rule, agrees in [({}, False), ({"match": "superset"}, False), ({"match": "ignore"}, True)]:
        with subtests.test(rule=rule):
            assert match([seen("a", args_error="no JSON")], [step("a", {})], arguments=rule).agrees is agrees


def test_the_rule_of_the_action_goes_before_the_tools_and_that_before_the_common_one(subtests):
    for own, tools, common, agrees in [
        ("ignore", "exact", "exact", True),
        ("exact", "ignore", "ignore", False),
        (None, "ignore", "exact", True),
        (None, "exact", "ignore", False),
        (None, None, "ignore", True),
    ]:
        with subtests.test(own=own, tools=tools):
            expected = step("a", {"x": 1}, rule=own and {"match": own})
            rules = {"arguments": {"match": common}, "tools": {"a": {"match": tools}} if tools else {}}

            assert match([seen("a", {"x": 2})], [expected], **rules).agrees is agrees
