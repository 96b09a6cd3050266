from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from tests.evaluation.measures.trajectory.builders import either, match, seen, step


def test_a_writing_call_beyond_the_expected_ones_does_not_pass():
    result = match(["pay", "read", "rm"], ["pay"], acting_tools=["pay", "rm"])

    assert (result.agrees, result.passed, result.unexpected_writes) == (True, False, ["rm"])


def test_an_unnamed_hand_off_is_no_read():
    expected = ["pay", step("to_billing", kind="handoff")]

    assert match(["pay"], expected, acting_tools=["pay"]).missing_actions == ["to_billing"]
    assert match(["pay", seen("to_billing", kind="handoff")], expected, acting_tools=["pay"]).passed


WRITES = ["pay", "send"]
names = st.sampled_from([*WRITES, "read", "look"])
calls = st.lists(st.builds(seen, names, failed=st.booleans()), max_size=6)
steps = st.lists(st.builds(step, names), max_size=5)


@given(calls, steps, st.sampled_from(["any_order", "superset", "precision_recall"]))
def test_effects_agree_if_the_successful_writes_are_the_expected_ones(actual, expected, mode):
    done = Counter(action["name"] for action in actual if not action["error"])
    required = allowed = Counter(each.name for each in expected)
    if required and not any(name in WRITES for name in required):
        enough = required <= done
        others = {} if mode != "precision_recall" else done - allowed
    else:
        enough = all(done[name] >= required[name] for name in WRITES)
        others = {}
    exceeded = any(done[name] > allowed[name] for name in WRITES) or bool(others)

    assert match(actual, expected, mode, acting_tools=WRITES).passed is (enough and not exceeded)


PAY, FAILED = {"acting_tools": ["pay"]}, seen("pay", failed=True)
EITHER = ["pay", either(step("show"), step("send"))]


def test_effects_are_compared_and_reads_left_out(subtests):
    for actual, expected, mode, rules, passed in [
        (["x", "pay"], ["read", "pay"], "exact", PAY, True),
        # Reads are required if nothing else is.
        (["read"], ["read"], "in_order", PAY, True),
        ([], ["read"], "in_order", PAY, False),
        ([FAILED], ["pay"], "in_order", PAY, False),
        ([FAILED, "pay"], ["pay"], "in_order", PAY, True),
        # A read may fulfil a step that has it as an alternative.
        (["pay"], EITHER, "in_order", {"acting_tools": ["pay", "send"]}, False),
        (["pay", "show"], EITHER, "in_order", {"acting_tools": ["pay", "send"]}, True),
        (["pay", "send"], EITHER, "in_order", {"acting_tools": ["pay", "send"]}, True),
        (["send"], EITHER, "in_order", {"acting_tools": ["pay", "send"]}, False),
        (["read"], [], "exact", {"acting_tools": []}, True),
    ]:
        with subtests.test(actual=actual, expected=expected, mode=mode):
            assert match(actual, expected, mode, **rules).passed is passed


def test_a_step_is_left_out_only_if_all_its_alternatives_are():
    expected = [either(step("read"), step("a"))]

    assert match(["a"], expected, "exact", ignored_tools=["read"]).agrees
    assert match([], expected, "exact", ignored_tools=["read"]).missing_actions == ["read | a"]
    assert match([], expected, "exact", ignored_tools=["read", "a"]).expected_count == 0


def test_a_failed_call_fulfils_nothing_and_is_an_extra_one_unless_effects_are_compared(subtests):
    for mode in ["exact", "subset", "precision_recall"]:
        with subtests.test(mode=mode):
            actual = [seen("a", failed=True), "a"]

            assert match(actual, ["a"], mode).extra_actions == ["a"]
            assert match(actual, ["a"], mode, acting_tools=["a"]).agrees
            assert match(actual, ["a"], "in_order").agrees


def test_a_forbidden_action_is_a_failure_whatever_is_left_out(subtests):
    for rules in [{}, {"ignored_tools": ["drop"]}]:
        with subtests.test(rules=rules):
            result = match(["a", seen("drop", failed=True)], ["a"], forbidden_tools=["drop"], **rules)

            assert (result.agrees, result.passed, result.forbidden_actions) == (True, False, ["drop"])


def test_unreadable_calls_of_an_ignored_tool_are_not_told():
    result = match([seen("read", args_error="no JSON"), "a"], ["a"], ignored_tools=["read"])

    assert (result.passed, result.unreadable_arguments) == (True, [])
