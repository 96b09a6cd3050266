from evaluation.measures.action_differences import Difference
from tests.evaluation.measures.trajectory.builders import either, match, seen, step


def paths(actual, expected, **rules):
    return [each.path for _, each in match(actual, expected, "any_order", **rules).argument_mismatches]


def test_a_bounded_number_of_differences_is_listed():
    expected = {str(index): 1 for index in range(21)}

    assert len(paths([seen("a", {})], [step("a", expected)])) == 20
    assert len(paths([seen("a", {"x": 1})] * 101, [step("a", {"x": 2})] * 101)) == 100


FAR, NEAR = seen("a", {"x": 0, "y": 0}), seen("a", {"x": 1, "y": 0})
ANN = step("a", {"x": 1}, agent="ann", target="bob", kind="handoff")


def test_the_differences_of_the_closest_action_are_listed(subtests):
    for actual, expected, found in [
        (["a"], ["a"], []),
        # Each missing step is paired with the closest action of its name, each action once.
        (
            [seen("a", {"x": 2, "y": 3}), seen("a", {"x": 1, "y": 3})],
            [step("a", {"x": 1, "y": 1}), step("a", {"x": 2, "y": 2})],
            ["/y", "/y"],
        ),
        ([seen("a", {"x": 3})], [step("a", {"x": 1}), step("a", {"x": 2})], ["/x"]),
        ([seen("a", {"x": 2}), seen("a", {"x": 3})], [step("a", {"x": 1})], ["/x"]),
        ([seen("a", {"x": 2}), seen("a", {"x": 5})], [step("a", {"x": 1}), step("a", {"x": 2})], ["/x"]),
        ([seen("b", {"x": 2})], [step("a", {"x": 1})], []),
        ([seen("b", {"x": 2})], ["a", step("b", {"x": 1})], ["/x"]),
        ([seen("b", {"y": 2})], [either(step("a", {"x": 1}), step("b", {"y": 1}))], ["/y"]),
        # At most eight actions are tried.
        ([*[FAR] * 7, NEAR], [step("a", {"x": 1, "y": 1})], ["/y"]),
        ([*[FAR] * 8, NEAR], [step("a", {"x": 1, "y": 1})], ["/x", "/y"]),
        # Who acted is named without a slash.
        ([seen("a", {"x": 1}, agent="eve", kind="handoff")], [ANN], ["agent", "target"]),
        ([seen("a", {"x": 2}, agent="ann", target="bob")], [ANN], ["kind", "/x"]),
        ([seen("a", {"x": 1}, agent="eve")], [step("a", agent="ann")], ["agent"]),
    ]:
        with subtests.test(actual=actual, expected=expected):
            assert paths(actual, expected) == found


def test_unreadable_arguments_are_a_difference_unless_they_are_ignored():
    actual, expected = [seen("a", args_error="no JSON")], [step("a", {"x": 1}, agent="ann")]

    assert match(actual, expected).argument_mismatches == [
        ("a", Difference("agent", "different", "ann", None)),
        ("a", Difference("", "unreadable", {"x": 1}, "no JSON")),
    ]
    assert paths(actual, expected, arguments={"match": "ignore"}) == ["agent"]
