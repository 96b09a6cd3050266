"""Which tools write and read, by the contract and by the run's own word; and how effects are compared."""

from collections import Counter
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.inputs.trajectory_rules import MatchMode
from tests.evaluation.metrics.trajectory.builders import either, match, seen, step


def test_a_writing_call_beyond_the_expected_ones_does_not_pass():
    result = match(["pay", "read", "rm"], ["pay"], writing_tools=["pay", "rm"])

    assert (result.agrees, result.passed, result.unexpected_writes) == (True, False, ("rm",))


def test_the_runs_own_word_keeps_a_call_in_the_comparison():
    recorded = seen("rm", recorded_as_writing=True)

    assert match([recorded, "pay"], ["pay"], writing_tools=["pay"]).recorded_writes == ("rm",)
    assert match([recorded, "pay"], ["rm", "pay"], writing_tools=["pay"]).recorded_writes == ()


def test_the_contracts_word_outweighs_the_runs():
    recorded = seen("log", recorded_as_writing=True)

    assert match([recorded, "pay"], ["pay"], reading_tools=["log"]).recorded_writes == ()


def test_an_unnamed_hand_off_is_no_read():
    expected = ["pay", step("to_billing", kind="handoff")]

    assert match(["pay"], expected, writing_tools=["pay"]).missing_actions == ("to_billing",)
    assert match(["pay", seen("to_billing", kind="handoff")], expected, writing_tools=["pay"]).passed


WRITES = ["pay", "send"]
names = st.sampled_from([*WRITES, "read", "look"])
calls = st.lists(st.builds(seen, names, failed=st.booleans()), max_size=6)
steps = st.lists(st.builds(step, names, optional=st.booleans()), max_size=5)


@given(calls, steps, st.sampled_from(["any_order", "superset", "precision_recall"]))
def test_effects_agree_if_the_successful_writes_are_the_expected_ones(actual, expected, mode):
    done = Counter(action.name for action in actual if not action.failed)
    required = Counter(each.name for each in expected if not each.optional)
    allowed = required + Counter(each.name for each in expected if each.optional)
    if required and not any(name in WRITES for name in required):
        enough = required <= done
        others = {} if mode != "precision_recall" else done - allowed
    else:
        enough = all(done[name] >= required[name] for name in WRITES)
        others = {}
    exceeded = any(done[name] > allowed[name] for name in WRITES) or bool(others)

    assert match(actual, expected, mode, writing_tools=WRITES).passed is (enough and not exceeded)


LISTS = [
    {},
    {"writing_tools": WRITES},
    {"reading_tools": ["read"]},
    {"writing_tools": ["pay"], "reading_tools": ["read"]},
]


@given(calls, steps, st.sampled_from(get_args(MatchMode)), st.sampled_from(LISTS), st.sets(names))
def test_what_a_run_says_of_its_tools_relaxes_nothing(actual, expected, mode, lists, recorded):
    claimed = [call._replace(recorded_as_writing=call.name in recorded) for call in actual]

    if match(claimed, expected, mode, **lists).passed:
        assert match(actual, expected, mode, **lists).passed


PAY, FAILED = {"writing_tools": ["pay"]}, seen("pay", failed=True)
BOTH = {"writing_tools": ["pay"], "reading_tools": ["read"]}
EITHER = ["pay", either(step("show"), step("send"))]


@pytest.mark.parametrize(
    ("actual", "expected", "mode", "rules", "passed"),
    [
        (["x", "pay"], ["read", "pay"], "exact", PAY, True),
        # Reads are required if nothing else is.
        (["read"], ["read"], "in_order", PAY, True),
        ([], ["read"], "in_order", PAY, False),
        ([], ["read", step("pay", optional=True)], "in_order", PAY, False),
        ([FAILED], ["pay"], "in_order", PAY, False),
        ([FAILED, "pay"], ["pay"], "in_order", PAY, True),
        ([FAILED], ["pay"], "in_order", {**PAY, "failed_calls": "count"}, True),
        # A step that a read fulfils is optional.
        (["pay"], EITHER, "in_order", {"writing_tools": ["pay", "send"]}, True),
        (["pay", "send"], EITHER, "in_order", {"writing_tools": ["pay", "send"]}, True),
        (["send"], EITHER, "in_order", {"writing_tools": ["pay", "send"]}, False),
        (["other", "pay"], ["pay"], "in_order", BOTH, True),
        (["pay"], ["other", "pay"], "in_order", BOTH, False),
        (["pay"], ["read", "pay"], "in_order", BOTH, True),
        (["pay", "look"], ["read", "pay"], "exact", {"reading_tools": ["read", "look"]}, True),
        (["pay", "rm"], ["pay"], "exact", {"reading_tools": ["read"]}, False),
        (["read"], [], "exact", {"writing_tools": []}, True),
    ],
)
def test_effects_are_compared_and_reads_left_out(actual, expected, mode, rules, passed):
    assert match(actual, expected, mode, **rules).passed is passed
