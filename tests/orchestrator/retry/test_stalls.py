"""When executing a step again leads nowhere."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator import Attempt
from orchestrator.retry.stalls import StallRules, find_stall

NEVER = {"same_output": None, "same_tool_call": None, "no_improvement": None}


def rules(**bounds):
    return StallRules(**{**NEVER, **bounds})


def attempt(output="out", *, args=(), score=None, raised=False, tool="search"):
    calls = tuple((tool, json.dumps(each, sort_keys=True)) for each in args)
    fields = {"output": output, "tool_calls": calls, "score": score, "raised": raised}
    return Attempt(number=1, outcome="failed", **fields)


@pytest.mark.parametrize(
    ("results", "times", "is_stalled"),
    [
        (["a"], 2, False),
        (["a", "a"], 2, True),
        (["a", "a "], 2, False),
        (["", ""], 2, True),
        (["a", "b", "a"], 2, False),
        (["b", "a", "a"], 2, True),
        (["a", "a", "b"], 2, False),
        (["a", "a"], 3, False),
        (["a", "a", "a"], 3, True),
        (["a", "a"], None, False),
    ],
)
def test_the_same_output_in_a_row(results, times, is_stalled):
    told = f"the last {times} executions gave the same output"

    assert find_stall([*map(attempt, results)], rules(same_output=times)) == (told if is_stalled else None)


def test_executions_that_ended_in_an_error_gave_no_output():
    assert find_stall([attempt("", raised=True)] * 2, rules(same_output=2)) is None


@pytest.mark.parametrize(
    ("executions", "times", "is_stalled"),
    [
        ([[{"q": 1}, {"q": 1}]], 3, False),
        ([[{"q": 1}, {"q": 1}, {"q": 1}]], 3, True),
        ([[{"q": 1}], [{"q": 1}], [{"q": 1}]], 3, True),
        ([[{"q": 1}], [{"q": 2}], [{"q": 1}]], 3, False),
        ([[{"q": 1}, {"q": 2}], [{"q": 1}, {"q": 2}], [{"q": 3}, {"q": 1}]], 3, True),
        ([[{"q": 1}], [], [{"q": 1}]], 2, True),
        ([[{"q": 1}, {"q": "1"}]], 2, False),
        ([[{"q": 1}] * 9], None, False),
    ],
)
def test_the_same_tool_call(executions, times, is_stalled):
    told = f"the tool 'search' was called {times} times with the same arguments"
    stall = find_stall([attempt(args=args) for args in executions], rules(same_tool_call=times))

    assert stall == (told if is_stalled else None)


def test_calls_of_different_tools_are_not_the_same_and_a_long_name_is_cut():
    calls = [attempt(args=[1], tool=tool) for tool in "abab"]

    assert find_stall(calls, rules(same_tool_call=3)) is None
    assert len(find_stall([attempt(args=[1], tool="x" * 5000)] * 3, rules(same_tool_call=3))) < 150


@pytest.mark.parametrize(
    ("values", "times", "is_stalled"),
    [
        ((0.5, 0.5), 3, False),
        ((0.5, 0.5, 0.5), 3, True),
        ((0.5, 0.4, 0.5), 3, True),
        ((0.5, 0.4, 0.6), 3, False),
        ((0.5, 0.6, 0.6), 3, False),
        ((0.5, 0.6, 0.6, 0.6), 3, True),
        ((0.6, 0.2, 0.3, 0.4), 3, True),
        ((0.1, 0.2, 0.3, 0.4), 3, False),
        ((0.0, 0.0), 2, True),
        ((0.0, 0.1), 2, False),
        ((0.5, None, 0.5), 3, False),
        ((0.5, 0.5, None), 3, False),
        ((None, 0.5, 0.5), 3, False),
        ((None, 0.5, 0.5, 0.5), 3, True),
        ((None, None, None), 3, False),
        ((0.5,) * 9, None, False),
    ],
)
def test_no_improvement_of_the_score(values, times, is_stalled):
    best = max((value for value in values if value is not None), default=0)
    told = f"over the last {times} executions the best score of the report stayed at {best:.2g} of 1"
    stall = find_stall([attempt(score=value) for value in values], rules(no_improvement=times))

    assert stall == (told if is_stalled else None)


def test_by_default_every_rule_holds_and_the_first_is_told():
    executions = [attempt("a", args=[1], score=0.5)] * 3

    assert "same output" in find_stall(executions[:2], StallRules())
    assert "same output" in find_stall(executions, StallRules())
    assert "tool" in find_stall(executions, StallRules(same_output=None))
    assert "score" in find_stall(executions, StallRules(same_output=None, same_tool_call=None))


histories = st.lists(
    st.builds(
        attempt,
        output=st.sampled_from("ab"),
        args=st.lists(st.sampled_from([1, 2]), max_size=2),
        score=st.none() | st.sampled_from([0.0, 0.5, 1.0]),
    ),
    max_size=8,
)


@given(histories)
def test_a_stricter_bound_stalls_no_later_and_no_bound_never(executions):
    assert find_stall(executions, rules()) is None
    if find_stall(executions, StallRules(same_output=3, same_tool_call=4, no_improvement=4)):
        assert find_stall(executions, StallRules())


@given(st.integers(1, 11))
def test_what_gets_better_each_time_never_stalls(times):
    assert find_stall([attempt(str(at), score=at / 10) for at in range(times)], StallRules()) is None
