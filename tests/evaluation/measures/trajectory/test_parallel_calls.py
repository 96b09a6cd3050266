"""Parallel calls of a run, which may come in any order."""

from hypothesis import given
from hypothesis import strategies as st

from evaluation import evaluate, run_from_messages
from tests.evaluation.measures.trajectory.builders import match, seen


def parallel(*names, message=1):
    return [seen(name, message=message) for name in names]


@given(st.lists(st.sampled_from("abc"), max_size=4), st.lists(st.sampled_from("abc"), max_size=4))
def test_the_order_of_parallel_calls_makes_no_difference(actual, expected):
    any_order = match(actual, expected, "precision_recall").agrees

    assert match(parallel(*actual), expected, "exact").agrees is any_order


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


PARALLEL = [seen("a"), *parallel("c", "b"), seen("d")]


def test_parallel_calls_come_in_any_order_at_their_place(subtests):
    for actual, expected, exact, in_order in [
        (PARALLEL, "abcd", True, True),
        (PARALLEL, "abdc", False, False),
        ("acbd", "abcd", False, False),
        ([*parallel("b"), *parallel("a", message=2)], "ab", False, False),
        (parallel("b", "read", "a"), "ab", True, True),
    ]:
        with subtests.test(actual=actual, expected=expected):
            rules = {"ignored_tools": ["read"]}

            assert match(actual, expected, "exact", **rules).agrees is exact
            assert match(actual, expected, "in_order", **rules).agrees is in_order
