"""When executing a step again leads nowhere."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator import read_attempts
from orchestrator.retry import stalls
from orchestrator.retry.stalls import StallRules
from orchestrator.state.records import StepRecord, ToolCallRecord
from orchestrator.state.usage import NO_USAGE

OUTPUT = StallRules(same_tool_call=None, no_improvement=None)
CALL = StallRules(same_output=None, no_improvement=None)
SCORE = StallRules(same_output=None, same_tool_call=None)
NEVER = StallRules(same_output=None, same_tool_call=None, no_improvement=None)


def find_stall(records, rules):
    return stalls.find_stall(read_attempts(records), rules)


def call(name="search", args=None, result="found"):
    return ToolCallRecord(name=name, args=args, result=result, error=None, latency_ms=1.0)


def scored(score):
    """A report of ten checks, of which as many tenths passed; None: none was answered."""
    passed = [None] if score is None else [at < round(score * 10) for at in range(10)]
    return {"metrics": {"response": {"checks": [{"passed": one} for one in passed]}}, "alerts": []}


def record(result="out", *, calls=(), score=None, error=None) -> StepRecord:
    return StepRecord(
        step_index=0,
        step="do",
        attempt=1,
        result=result,
        status="failed",
        verdict=None,
        report=scored(score),
        warnings=[],
        supervision=None,
        tool_calls=list(calls),
        usage=NO_USAGE,
        judge_usage=None,
        model=None,
        transport_retries=0,
        replan=0,
        started_at="2026-01-01T10:00:00+00:00",
        error=error,
    )


def outputs(*results):
    return [record(result) for result in results]


def scores(*values):
    return [record(score=value) for value in values]


@pytest.mark.parametrize(
    ("results", "times", "is_stalled"),
    [
        ("a", 2, False),
        ("aa", 2, True),
        ("ab", 2, False),
        ("aba", 2, False),
        ("baa", 2, True),
        ("aab", 2, False),
        ("aa", 3, False),
        ("aaa", 3, True),
        ("abaa", 3, False),
        ("aa", None, False),
    ],
)
def test_the_same_output_in_a_row(results, times, is_stalled):
    rules = StallRules(same_output=times, same_tool_call=None, no_improvement=None)
    told = f"the last {times} executions gave the same output"

    assert find_stall(outputs(*results), rules) == (told if is_stalled else None)


def test_outputs_that_differ_in_any_character_are_not_the_same():
    assert find_stall(outputs("a", "a "), OUTPUT) is None


def test_no_output_twice_is_the_same_output():
    assert find_stall(outputs("", ""), OUTPUT)


def test_executions_that_ended_in_an_error_gave_no_output():
    assert find_stall([record("", error="ValueError"), record("", error="ValueError")], OUTPUT) is None


@pytest.mark.parametrize(
    ("executions", "times", "is_stalled"),
    [
        ([[{"q": 1}, {"q": 1}]], 3, False),
        ([[{"q": 1}, {"q": 1}, {"q": 1}]], 3, True),
        ([[{"q": 1}], [{"q": 1}], [{"q": 1}]], 3, True),
        ([[{"q": 1}], [{"q": 2}], [{"q": 1}]], 3, False),
        ([[{"q": 1}, {"q": 2}], [{"q": 1}, {"q": 2}], [{"q": 3}, {"q": 1}]], 3, True),
        ([[{"q": 1}], [], [{"q": 1}]], 2, True),
        ([[{"a": 1, "b": 2}, {"b": 2, "a": 1}]], 2, True),
        ([[{"q": 1}, {"q": True}]], 2, False),
        ([[{"q": 1}, {"q": "1"}]], 2, False),
        ([[None, None]], 2, True),
        ([["x", "x"]], 2, True),
        ([[{"q": 1}] * 9], None, False),
    ],
)
def test_the_same_tool_call(executions, times, is_stalled):
    rules = StallRules(same_output=None, same_tool_call=times, no_improvement=None)
    records = [record(calls=[call(args=args) for args in execution]) for execution in executions]
    told = f"the tool 'search' was called {times} times with the same arguments"

    assert find_stall(records, rules) == (told if is_stalled else None)


def test_calls_of_different_tools_are_not_the_same():
    assert find_stall([record(calls=[call("a"), call("b"), call("a"), call("b")])], CALL) is None


def test_the_same_call_counts_whatever_it_answered():
    assert find_stall([record(calls=[call(result=text) for text in "abc"])], CALL)


def test_a_long_name_of_a_tool_is_cut():
    assert len(find_stall([record(calls=[call("x" * 5000)] * 3)], CALL)) < 150


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
    rules = StallRules(same_output=None, same_tool_call=None, no_improvement=times)

    assert (find_stall(scores(*values), rules) is not None) is is_stalled


def test_a_score_that_stays_is_told():
    told = "over the last 3 executions the best score of the report stayed at 0.5 of 1"

    assert find_stall(scores(0.5, 0.4, 0.5), SCORE) == told


def test_an_execution_without_a_report_has_no_score():
    records = [*scores(0.5, 0.5), {**record(), "report": None}]

    assert find_stall(records, SCORE) is None


def test_by_default_two_same_outputs_stall():
    assert find_stall(outputs("a", "a"), StallRules())


def test_the_first_rule_that_holds_is_told():
    records = [record("a", calls=[call()], score=0.5) for _ in range(3)]

    assert "same output" in find_stall(records, StallRules())
    assert "tool" in find_stall(records, StallRules(same_output=None))
    assert "score" in find_stall(records, StallRules(same_output=None, same_tool_call=None))


histories = st.lists(
    st.builds(
        record,
        result=st.sampled_from("ab"),
        calls=st.lists(st.builds(call, args=st.sampled_from([{"q": 1}, {"q": 2}, None])), max_size=2),
        score=st.none() | st.sampled_from([0.0, 0.5, 1.0]),
    ),
    max_size=8,
)


@given(histories)
def test_without_a_rule_nothing_stalls(records):
    assert find_stall(records, NEVER) is None


@given(histories)
def test_a_stricter_bound_stalls_no_later(records):
    if find_stall(records, StallRules(same_output=3, same_tool_call=4, no_improvement=4)):
        assert find_stall(records, StallRules())


@given(st.integers(1, 11))
def test_what_gets_better_each_time_never_stalls(times):
    records = [record(str(at), score=at / 10) for at in range(times)]

    assert find_stall(records, StallRules()) is None
