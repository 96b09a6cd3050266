"""Which trajectories agree, in every mode: properties, and what rows of a table cannot show."""

import copy
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.inputs.trajectory_rules import MATCH_MODES, TrajectoryRules
from evaluation.metrics.trajectory.action_comparison import ActionComparer
from evaluation.metrics.trajectory.actions import ObservedAction, expected_steps, observed_action
from evaluation.metrics.trajectory.assignment import UndecidedError
from evaluation.metrics.trajectory.candidate_actions import find_candidates
from tests.evaluation.metrics.trajectory.builders import either, match, seen, step

args = st.sampled_from([None, {}, {"x": 1}, {"x": True}, {"x": 1, "y": {"z": [1, 2]}}])
actions = st.builds(
    seen,
    st.sampled_from("abc"),
    args,
    agent=st.sampled_from([None, "ann"]),
    failed=st.sampled_from([False, False, False, True]),
)
single = st.builds(
    step, st.sampled_from("abc"), args, optional=st.booleans(), agent=st.sampled_from([None, None, "ann"])
)
steps = single | st.builds(either, single, single, optional=st.booleans())
observed = st.lists(actions, max_size=4)
expected = st.lists(steps, max_size=4)
arguments = st.sampled_from([{}, {"match": "superset"}, {"match": "subset"}, {"match": "ignore"}])


def fits(item, action, rule):
    """Whether a single step and a single action agree."""
    return match([action], [item], "exact", arguments=rule).agrees


def explained(actual, expected_steps, rule):
    """The definition of ``exact``: some choice of optional steps is the trajectory."""
    for included in product(*[(True, False) if item.optional else (True,) for item in expected_steps]):
        chosen = [item for item, keep in zip(expected_steps, included, strict=True) if keep]
        if len(chosen) == len(actual) and all(
            fits(item._replace(optional=False), action, rule)
            for item, action in zip(chosen, actual, strict=True)
        ):
            return True
    return False


@given(observed, expected, arguments)
def test_exact_is_one_choice_of_the_optional_steps(actual, expected_steps, rule):
    assert match(actual, expected_steps, "exact", arguments=rule).agrees is explained(
        actual, expected_steps, rule
    )


@given(observed, expected, arguments)
def test_in_order_is_a_subsequence_that_is_exact(actual, expected_steps, rule):
    required = [item for item in expected_steps if not item.optional]
    chosen = [
        [action for action, keep in zip(actual, included, strict=True) if keep]
        for included in product((True, False), repeat=len(actual))
    ]

    # Where nothing is required, only optional actions may be seen.
    result = (
        any(explained(some, required, rule) for some in chosen)
        if required
        else match(actual, expected_steps, "subset", arguments=rule).agrees
    )

    assert match(actual, expected_steps, "in_order", arguments=rule).agrees is result


@given(observed, expected, arguments)
def test_modes_imply_each_other(actual, expected_steps, rule):
    agrees = {mode: match(actual, expected_steps, mode, arguments=rule).agrees for mode in MATCH_MODES}

    assert agrees["superset"] is agrees["any_order"]
    assert agrees["precision_recall"] is (agrees["any_order"] and agrees["subset"])
    assert agrees["any_order"] or not agrees["in_order"]
    assert (agrees["in_order"] and agrees["precision_recall"]) or not agrees["exact"]


@given(observed, expected, arguments, st.randoms())
def test_order_makes_no_difference_where_it_is_not_asked_for(actual, expected_steps, rule, random):
    shuffled, mixed = random.sample(actual, len(actual)), random.sample(expected_steps, len(expected_steps))

    for mode in ("any_order", "superset", "subset", "precision_recall"):
        item, other = (
            match(*both, mode, arguments=rule) for both in ((actual, expected_steps), (shuffled, mixed))
        )
        assert item[:2] == other[:2]
        assert (item.precision, item.recall, item.f1) == (other.precision, other.recall, other.f1)


@given(observed, expected, arguments)
def test_shares_and_counts_are_those_of_the_lists(actual, expected_steps, rule):
    result = match(actual, expected_steps, "any_order", arguments=rule)

    assert result.actual_count == len(actual) == result.matched_count + len(result.extra_actions)
    assert result.expected_count + result.optional_count == len(expected_steps)
    required_found = result.matched_count - result.matched_optional_count
    assert required_found == result.expected_count - len(result.missing_actions)
    assert result.precision == (result.matched_count / len(actual) if actual else None)
    assert result.recall == (required_found / result.expected_count if result.expected_count else None)
    for share in (result.f1, result.alignment, result.score):
        assert share is None or 0 <= share <= 1


@given(observed, expected, arguments, st.sampled_from(["exact", "in_order"]))
def test_a_trajectory_that_does_not_agree_says_why(actual, expected_steps, rule, mode):
    result = match(actual, expected_steps, mode, arguments=rule)
    wrong = [*result.missing_actions, *result.order_violations]

    if mode == "exact" or not result.expected_count:
        wrong += result.extra_actions
    assert result.agrees is not bool(wrong)
    assert result.agrees or not result.order_violations or result.reason.find("out of order") > 0


@given(observed, expected, arguments, st.sampled_from(MATCH_MODES))
def test_equal_input_gives_an_equal_result_and_stays_as_it_was(actual, expected_steps, rule, mode):
    before = copy.deepcopy((actual, expected_steps))

    assert match(actual, expected_steps, mode, arguments=rule) == match(
        *copy.deepcopy(before), mode, arguments=rule
    )
    assert (actual, expected_steps) == before


def test_optional_steps_do_not_weigh_on_the_alignment():
    expected_steps = ["a", step("b", optional=True), "c"]

    assert match(["a", "c"], expected_steps).alignment == 1.0
    assert match(["a", "b", "c"], expected_steps).alignment == 1.0
    assert match(["a", "b", "x", "c"], expected_steps).alignment == pytest.approx(2 / 3)


def test_a_missing_step_with_alternatives_names_them_all_once():
    assert match([], [either(step("a"), step("b"), step("a", {"x": 1}))]).missing_actions == ("a | b",)


@pytest.mark.parametrize(
    ("expected_steps", "given_count"), [([], 0), (["a", "b"], 2), ([step("a", optional=True)], 1)]
)
def test_single_tool_needs_one_required_step(expected_steps, given_count):
    result = match(["a"], expected_steps, "single_tool")

    assert result.agrees is result.passed is result.score is result.precision is None
    assert result.matched_count == result.matched_optional_count == result.common_count == 0
    assert result.error == (
        f"mode single_tool needs exactly one expected action, which is not optional; {given_count} were given"
    )


@pytest.mark.parametrize(
    ("actual", "expected_steps", "mode", "problems"),
    [
        (["x"], ["a"], "exact", "missing a; extra x"),
        (["x"], ["a"], "in_order", "missing a"),
        (["x"], ["a"], "precision_recall", "missing a; extra x"),
        (["x"], ["a"], "subset", "extra x"),
        (["b", "a"], ["a", "b"], "exact", "out of order a"),
        ([seen("a", {"x": 1})], [step("a", {"x": 2})], "any_order", "missing a; with other arguments a"),
        ([], [*"abcdefg"], "in_order", "missing a, b, c, d, e and 2 more"),
        ([], ["a\nb"], "in_order", r"missing 'a\nb'"),
        ([], ["a" * 61], "in_order", f"missing {'a' * 59}…"),
    ],
)
def test_disagreement_is_told_in_one_sentence(actual, expected_steps, mode, problems):
    assert match(actual, expected_steps, mode).reason == (
        f"The actions do not agree with the expected ones in mode {mode}: {problems}."
    )


def test_arguments_are_copied_for_a_callers_function():
    def greedy(expected, seen_args):
        expected.clear()
        seen_args["list"].clear()
        return True

    action, expected_steps = seen("a", {"list": [1]}), step("a", {"x": {"y": 1}})

    assert match(
        [action], [expected_steps], arguments={"match": "custom", "function": "f"}, functions={"f": greedy}
    )
    assert action.args == {"list": [1]}
    assert expected_steps.patterns[0].args == {"x": {"y": 1}}


@pytest.mark.parametrize(
    ("rule", "agrees"), [({}, False), ({"match": "superset"}, False), ({"match": "ignore"}, True)]
)
def test_unreadable_arguments_agree_only_with_a_rule_that_ignores_them(rule, agrees):
    assert match([seen("a", args_error="no JSON")], [step("a", {})], arguments=rule).agrees is agrees


def test_the_rule_of_the_action_goes_before_the_tools_and_that_before_the_common_one():
    different = [seen("a", {"x": 2})]

    def agrees(own, tools, common):
        expected_steps = step("a", {"x": 1}, rule=own and {"match": own})
        return match(
            different,
            [expected_steps],
            arguments={"match": common},
            tools={"a": {"match": tools}} if tools else {},
        ).agrees

    assert agrees("ignore", "exact", "exact")
    assert not agrees("exact", "ignore", "ignore")
    assert agrees(None, "ignore", "exact")
    assert not agrees(None, "exact", "ignore")
    assert agrees(None, None, "ignore")


# Reading


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        (
            {"name": "a", "args": {"x": 1}, "arguments": {"match": "superset"}, "optional": True},
            step("a", {"x": 1}, rule={"match": "superset"}, optional=True),
        ),
        (
            {"name": "a", "agent": "ann", "target": "bob", "kind": "handoff"},
            step("a", agent="ann", target="bob", kind="handoff"),
        ),
        (
            {"arguments": {"match": "superset"}, "target": "bob", "kind": "handoff", "any_of": ["a"]},
            step("a", rule={"match": "superset"}, target="bob", kind="handoff"),
        ),
        (
            {
                "args": {"x": 1},
                "agent": "ann",
                "any_of": ["a", {"name": "b", "args": {"x": 2}}, {"any_of": ["c"], "agent": "bob"}],
            },
            either(
                step("a", {"x": 1}, agent="ann"),
                step("b", {"x": 2}, agent="ann"),
                step("c", {"x": 1}, agent="bob"),
            ),
        ),
        (
            {"any_of": [{"name": "a", "any_of": []}, {"name": "b"}]},
            either(step("a"), step("b")),
        ),
    ],
)
def test_a_step_is_read_from_json_and_an_alternative_inherits_what_it_does_not_set(item, expected):
    assert expected_steps([item]) == [expected]


def test_an_action_of_the_state_is_read_with_all_it_says():
    action = {
        "kind": "handoff",
        "name": "transfer",
        "args": {"x": 1},
        "args_error": None,
        "result": None,
        "error": "refused",
        "not_run": "denied",
        "agent": "ann",
        "target": "bob",
        "latency_ms": 1.0,
        "message": 3,
    }

    assert observed_action(action) == ObservedAction(
        "transfer", {"x": 1}, None, "ann", "bob", "handoff", True, "denied", message=3
    )
    assert not observed_action({**action, "error": None}).failed
    assert observed_action({**action, "args": None, "args_error": "no JSON"})[1:3] == (None, "no JSON")


# Many


def many(count, args_of):
    return [seen("a", args_of(index)) for index in range(count)]


def test_ten_thousand_different_calls_are_matched_with_as_many_steps():
    actual = many(10_000, lambda index: {"x": index})
    expected_steps = [step("a", {"x": index}) for index in reversed(range(10_000))]

    result = match(actual, expected_steps, "any_order")

    assert result.agrees
    assert result.common_count == 1


def test_ten_thousand_calls_that_fit_nothing_are_diagnosed_within_bounds():
    actual = many(10_000, lambda index: {"x": index})

    result = match(actual, [step("a", {"x": -1})] * 10_000, "in_order")

    assert (len(result.missing_actions), len(result.argument_mismatches)) == (10_000, 100)
    assert result.mismatches_truncated


def test_grouping_many_calls_finds_the_same_as_comparing_each():
    shapes = [None, {}, {"x": 1}, {"x": True}, {"x": 1.0, "y": 2}]
    actual = [
        seen(
            "a",
            shapes[index % 5],
            agent="ann" if index % 2 else None,
            args_error="bad" if index % 7 == 0 else None,
        )
        for index in range(70)
    ]
    expected_steps = [
        step("a", shapes[index % 5], agent="ann" if index % 3 else None, rule={"match": rule})
        for index in range(10)
        for rule in ("exact", "superset", "subset", "ignore")
    ]
    comparer = ActionComparer(TrajectoryRules(), {})

    masks = find_candidates(expected_steps, actual, comparer)

    slowly = [
        sum(1 << place for place, action in enumerate(actual) if comparer.fits_step(item, action))
        for item in expected_steps
    ]
    assert masks == slowly


@pytest.mark.parametrize("names", [("a", "b"), ("b", "a")])
def test_an_alternative_counts_beside_one_that_was_done_many_times(names):
    expected_steps = [either(*map(step, names)), *[step("b")] * 40]

    assert match([*["b"] * 40, "a"], expected_steps, "any_order").agrees


def test_too_many_comparisons_by_rules_leave_it_undecided():
    expected_steps = [step("a", {"x": index}, rule={"match": "superset"}) for index in range(40)]
    comparer = ActionComparer(TrajectoryRules(), {}, max_comparisons=1000)

    problem = "^too many different actions have to be compared with too many steps$"
    with pytest.raises(UndecidedError, match=problem):
        find_candidates(expected_steps, many(40, lambda index: {"x": index}), comparer)


def test_equal_steps_are_compared_once_with_many_calls():
    expected_steps = [step("a", {"x": 1}, rule={"match": "superset"}) for _ in range(1000)]
    comparer = ActionComparer(TrajectoryRules(), {}, max_comparisons=40)

    assert len(set(find_candidates(expected_steps, many(40, lambda index: {"x": index}), comparer))) == 1


@pytest.mark.parametrize(
    ("actual", "expected_steps", "mode", "f1", "score"),
    [
        (["a", "x"], ["a"], "precision_recall", 2 / 3, 2 / 3),
        (["x"], ["a"], "in_order", 0.0, 0.0),
        ([], ["a"], "precision_recall", None, None),
        (["a"], [], "precision_recall", None, None),
        (["b", "a"], ["a", "b"], "exact", 1.0, 0.0),
        (["b", "a"], ["a", "b"], "any_order", 1.0, 1.0),
    ],
)
def test_f1_is_the_harmonic_mean_and_the_score_of_one_mode(actual, expected_steps, mode, f1, score):
    result = match(actual, expected_steps, mode)

    assert (result.f1, result.score) == (pytest.approx(f1), pytest.approx(score))


@pytest.mark.parametrize(
    ("actual", "expected_steps", "mode", "violations"),
    [
        (["b", "a"], ["a", "b"], "in_order", ("a",)),
        (["b", "a"], ["a", "b"], "any_order", ()),
        (["b", "a", "b"], ["a", "b"], "in_order", ()),
        # An optional step may stand anywhere unless the order is exact.
        (["c", "a", "b"], [step("b", optional=True), "a", "c"], "in_order", ("a",)),
        (["a", "b"], [step("b", optional=True), "a"], "exact", ("b",)),
    ],
)
def test_order_violations_are_named_if_order_is_compared(actual, expected_steps, mode, violations):
    assert match(actual, expected_steps, mode).order_violations == violations


def fail(expected_args, actual_args):
    raise RuntimeError("secret")


@pytest.mark.parametrize(
    ("action", "function", "agrees", "error"),
    [
        (seen("a", {"x": 2}), lambda item, other: (item, other) == ({"x": 1}, {"x": 2}), True, None),
        (seen("a"), lambda item, other: other == {}, True, None),
        (seen("a", args_error="no JSON"), lambda item, other: True, False, None),
        (seen("a", {"x": 2}), fail, None, "raised RuntimeError"),
        (seen("a", {"x": 2}), lambda item, other: "false", None, "returned str; return True or False"),
        (seen("a", {"x": 2}), lambda item, other: 1, None, "returned int; return True or False"),
    ],
)
def test_a_function_of_the_user_compares_readable_arguments_and_answers_true_or_false(
    action, function, agrees, error
):
    custom = {"match": "custom", "function": "f"}

    result = match([action], [step("a", {"x": 1})], arguments=custom, functions={"f": function})

    assert result.agrees is agrees
    assert result.error == (error and f"the argument function 'f' {error}")
    assert agrees is not None or result.precision is None
