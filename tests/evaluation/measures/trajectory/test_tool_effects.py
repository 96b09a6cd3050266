"""Which tools write and read, by the contract and by the run's own word; and how effects are compared."""

from collections import Counter
from typing import get_args

from hypothesis import given
from hypothesis import strategies as st

from evaluation.contract.run import MatchMode
from tests.evaluation.measures.trajectory.builders import either, match, seen, step


def test_a_writing_call_beyond_the_expected_ones_does_not_pass():
    result = match(["pay", "read", "rm"], ["pay"], acting_tools=["pay", "rm"])

    assert (result.agrees, result.passed, result.unexpected_writes) == (True, False, ["rm"])


def test_the_runs_own_word_keeps_a_call_in_the_comparison(subtests):
    for expected, rules, writes in [
        (["pay"], {"acting_tools": ["pay"]}, ["rm"]),
        (["rm", "pay"], {"acting_tools": ["pay"]}, []),
        (["pay"], {"reading_tools": ["rm"]}, []),  # the contract's word outweighs the run's
    ]:
        with subtests.test(expected=expected, rules=rules):
            result = match(["rm", "pay"], expected, recorded=["rm"], **rules)

            assert [*result.recorded_writes] == writes


def test_an_unnamed_hand_off_is_no_read():
    expected = ["pay", step("to_billing", kind="handoff")]

    assert match(["pay"], expected, acting_tools=["pay"]).missing_actions == ["to_billing"]
    assert match(["pay", seen("to_billing", kind="handoff")], expected, acting_tools=["pay"]).passed


WRITES = ["pay", "send"]
names = st.sampled_from([*WRITES, "read", "look"])
calls = st.lists(st.builds(seen, names, failed=st.booleans()), max_size=6)
steps = st.lists(st.builds(step, names, optional=st.booleans()), max_size=5)


@given(calls, steps, st.sampled_from(["any_order", "superset", "precision_recall"]))
def test_effects_agree_if_the_successful_writes_are_the_expected_ones(actual, expected, mode):
    done = Counter(action["name"] for action in actual if not action["error"])
    required = Counter(each.name for each in expected if not each.optional)
    allowed = required + Counter(each.name for each in expected if each.optional)
    if required and not any(name in WRITES for name in required):
        enough = required <= done
        others = {} if mode != "precision_recall" else done - allowed
    else:
        enough = all(done[name] >= required[name] for name in WRITES)
        others = {}
    exceeded = any(done[name] > allowed[name] for name in WRITES) or bool(others)

    assert match(actual, expected, mode, acting_tools=WRITES).passed is (enough and not exceeded)


LISTS = [
    {},
    {"acting_tools": WRITES},
    {"reading_tools": ["read"]},
    {"acting_tools": ["pay"], "reading_tools": ["read"]},
]


@given(calls, steps, st.sampled_from(get_args(MatchMode)), st.sampled_from(LISTS), st.sets(names))
def test_what_a_run_says_of_its_tools_relaxes_nothing(actual, expected, mode, lists, recorded):
    if match(actual, expected, mode, recorded, **lists).passed:
        assert match(actual, expected, mode, **lists).passed


PAY, FAILED = {"acting_tools": ["pay"]}, seen("pay", failed=True)
BOTH = {"acting_tools": ["pay"], "reading_tools": ["read"]}
EITHER = ["pay", either(step("show"), step("send"))]


def test_effects_are_compared_and_reads_left_out(subtests):
    for actual, expected, mode, rules, passed in [
        (["x", "pay"], ["read", "pay"], "exact", PAY, True),
        # Reads are required if nothing else is.
        (["read"], ["read"], "in_order", PAY, True),
        ([], ["read"], "in_order", PAY, False),
        ([], ["read", step("pay", optional=True)], "in_order", PAY, False),
        ([FAILED], ["pay"], "in_order", PAY, False),
        ([FAILED, "pay"], ["pay"], "in_order", PAY, True),
        ([FAILED], ["pay"], "in_order", {**PAY, "failed_calls": "count"}, True),
        # A step that a read fulfils is optional.
        (["pay"], EITHER, "in_order", {"acting_tools": ["pay", "send"]}, True),
        (["pay", "send"], EITHER, "in_order", {"acting_tools": ["pay", "send"]}, True),
        (["send"], EITHER, "in_order", {"acting_tools": ["pay", "send"]}, False),
        (["other", "pay"], ["pay"], "in_order", BOTH, True),
        (["pay"], ["other", "pay"], "in_order", BOTH, False),
        (["pay"], ["read", "pay"], "in_order", BOTH, True),
        (["pay", "look"], ["read", "pay"], "exact", {"reading_tools": ["read", "look"]}, True),
        (["pay", "rm"], ["pay"], "exact", {"reading_tools": ["read"]}, False),
        (["read"], [], "exact", {"acting_tools": []}, True),
    ]:
        with subtests.test(actual=actual, expected=expected, mode=mode):
            assert match(actual, expected, mode, **rules).passed is passed


def test_a_step_is_left_out_only_if_all_its_alternatives_are():
    expected = [either(step("read"), step("a"))]

    assert match(["a"], expected, "exact", ignored_tools=["read"]).agrees
    assert match([], expected, "exact", ignored_tools=["read"]).missing_actions == ["read | a"]
    assert match([], expected, "exact", ignored_tools=["read", "a"]).expected_count == 0


def test_a_failed_call_is_worth_what_the_rules_say(subtests):
    for failed_calls, agrees, passed, count in [
        ("extra", False, False, 1),
        ("ignore", False, False, 0),
        ("count", True, True, 1),
        ("fail", False, False, 1),
    ]:
        with subtests.test(failed_calls=failed_calls):
            result = match([seen("a", failed=True)], ["a"], failed_calls=failed_calls)

            assert (result.agrees, result.passed, result.actual_count) == (agrees, passed, count)
            assert result.failed_calls == ["a"]


def test_a_call_that_is_made_again_is_an_extra_one_unless_failed_calls_are_left_out(subtests):
    for mode in ["exact", "subset", "precision_recall"]:
        with subtests.test(mode=mode):
            actual = [seen("a", failed=True), "a"]

            assert match(actual, ["a"], mode).extra_actions == ["a"]
            assert match(actual, ["a"], mode, failed_calls="ignore").agrees
            assert match(actual, ["a"], "in_order").agrees


def test_a_forbidden_action_is_a_failure_whatever_is_left_out(subtests):
    for rules in [{}, {"ignored_tools": ["drop"]}, {"failed_calls": "ignore"}]:
        with subtests.test(rules=rules):
            result = match(["a", seen("drop", failed=True)], ["a"], forbidden_tools=["drop"], **rules)

            assert (result.agrees, result.passed, result.forbidden_actions) == (True, False, ["drop"])


def test_failed_and_unreadable_calls_of_an_ignored_tool_are_not_told():
    actual = [seen("read", failed=True), seen("read", args_error="no JSON"), "a"]
    result = match(actual, ["a"], failed_calls="fail", ignored_tools=["read"])

    assert (result.passed, result.failed_calls, result.unreadable_arguments) == (True, [], [])
