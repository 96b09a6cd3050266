"""Groups of actions that may come in any order: in the expectation, and parallel calls of the run."""

from itertools import permutations, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation import evaluate, run_from_messages
from evaluation.metrics.trajectory import expected_steps
from tests.evaluation.metrics.trajectory.builders import match, seen, step

GROUP = [{"in_any_order": ["b", {"name": "c", "optional": True}]}]


def parallel(*names, message=1):
    return [seen(name, message=message) for name in names]


def test_a_group_that_is_out_of_order_says_so():
    expected = expected_steps([{"in_any_order": ["a", "b"]}, {"name": "c"}])

    result = match(["c", "b", "a"], expected)

    assert (result.agrees, result.missing_actions, result.order_violations) == (False, [], ["c"])


@given(st.lists(st.sampled_from("abc"), max_size=4), st.lists(st.sampled_from("abc"), max_size=4))
def test_order_makes_no_difference_in_one_group(actual, expected):
    grouped = [step(name)._replace(group=1) for name in expected]

    assert match(actual, grouped, "exact").agrees is match(actual, expected, "precision_recall").agrees
    assert match(actual, grouped, "in_order").agrees is match(actual, expected, "any_order").agrees
    assert match(parallel(*actual), expected, "exact").agrees is match(actual, grouped, "exact").agrees


@given(st.lists(st.integers(1, 3), max_size=3), st.lists(st.sampled_from("abc"), max_size=6), st.booleans())
def test_groups_and_parallel_calls_agree_only_if_an_order_that_they_allow_does(sizes, names, is_exact):
    mode = "exact" if is_exact else "in_order"
    expected = [step(name) for name in "abcabcabc"[: sum(sizes)]]
    groups = [number for number, size in enumerate(sizes) for _ in range(size)]
    grouped = [each._replace(group=group) for each, group in zip(expected, groups, strict=True)]
    actual = [seen(name, message=place // 2) for place, name in enumerate(names)]

    if match(actual, grouped, mode).agrees:
        assert any(
            match([seen(each["name"]) for each in calls], steps, mode).agrees
            for calls in every_order(actual, [place // 2 for place in range(len(actual))])
            for steps in every_order(expected, groups)
        )


def every_order(items, groups):
    pairs = list(zip(items, groups, strict=True))
    members = [[item for item, each in pairs if each == group] for group in sorted({*groups})]
    for chosen in product(*map(permutations, members)):
        yield [item for part in chosen for item in part]


def test_the_calls_of_one_recorded_message_are_parallel():
    def call(name):
        return {"id": name, "type": "function", "function": {"name": name, "arguments": "{}"}}

    messages = [
        {"role": "user", "content": "Go."},
        {"role": "assistant", "content": None, "tool_calls": [call("b"), call("a")]},
        {"role": "tool", "tool_call_id": "b", "content": "ok"},
        {"role": "tool", "tool_call_id": "a", "content": "ok"},
        {"role": "assistant", "content": None, "tool_calls": [call("c")]},
        {"role": "tool", "tool_call_id": "c", "content": "ok"},
        {"role": "assistant", "content": "Done."},
    ]
    contract = {"trajectory_match_mode": "exact"}

    for run in (run_from_messages(messages), {"messages": messages}):
        case = {"agent_run": run, **contract}
        assert evaluate({**case, "expected_trajectory": ["a", "b", "c"]}).status == "passed"
        assert evaluate({**case, "expected_trajectory": ["a", "c", "b"]}).status == "failed"
        assert (
            evaluate({**case, "expected_trajectory": [{"in_any_order": ["c", "b", "a"]}]}).status == "passed"
        )


def test_the_agents_of_a_group_are_scored():
    group = {"in_any_order": [{"name": "a", "agent": "ann"}, {"name": "b", "agent": "bob"}]}
    calls = [{"name": "b", "agent": "bob"}, {"name": "a", "agent": "eve"}]
    report = evaluate(
        {
            "agent_run": {"final_output": "Done.", "tool_calls": calls},
            "expected_trajectory": [group],
            "thresholds": {"agent_accuracy": 0.5},
        }
    )

    assert report.metrics.trajectory["agent_accuracy"] == 0.5


A_GROUP_D = expected_steps([{"name": "a"}, *GROUP, {"name": "d"}])
PARALLEL = [seen("a"), *parallel("c", "b"), seen("d")]


@pytest.mark.parametrize(
    ("actual", "expected", "exact", "in_order"),
    [
        ("abcd", A_GROUP_D, True, True),
        ("acbd", A_GROUP_D, True, True),
        ("abd", A_GROUP_D, True, True),
        ("bacd", A_GROUP_D, False, False),
        ("abdc", A_GROUP_D, False, True),  # in mode in_order an optional action may stand anywhere
        ("acd", A_GROUP_D, False, False),
        (PARALLEL, "abcd", True, True),
        (PARALLEL, "abdc", False, False),
        ("acbd", "abcd", False, False),
        ([*parallel("b"), *parallel("a", message=2)], "ab", False, False),
        (parallel("b", "read", "a"), "ab", True, True),
    ],
)
def test_groups_and_parallel_calls_come_in_any_order_at_their_place(actual, expected, exact, in_order):
    rules = {"ignored_tools": ["read"]}

    assert match(actual, expected, "exact", **rules).agrees is exact
    assert match(actual, expected, "in_order", **rules).agrees is in_order
