from itertools import permutations, product

from hypothesis import given
from hypothesis import strategies as st

from evaluation import evaluate, run_from_messages
from evaluation.contract.contract import MATCH_MODES
from evaluation.measures.trajectory_matching import assign_actions
from tests.evaluation.measures.trajectory.builders import either, match, seen, step
from tests.evaluation.measures.trajectory.truth_table import KITS, read_peers, read_rows, read_verdict
from tests.evaluation.messages import answered, calling, said, user

args = st.sampled_from([None, {}, {"x": 1}, {"x": True}, {"x": 1, "y": {"z": [1, 2]}}])
actions = st.builds(
    seen,
    st.sampled_from("abc"),
    args,
    agent=st.sampled_from([None, "ann"]),
    failed=st.sampled_from([False, False, False, True]),
)
single = st.builds(step, st.sampled_from("abc"), args, agent=st.sampled_from([None, None, "ann"]))
steps = single | st.builds(either, single, single)
observed = st.lists(actions, max_size=4)
expected = st.lists(steps, max_size=4)
arguments = st.sampled_from([{}, {"match": "superset"}, {"match": "ignore"}])


def fits(item, action, rule):
    return match([action], [item], "exact", arguments=rule).agrees


def explained(actual, expected_steps, rule):
    """The definition of ``exact``: each step fits the action at its position."""
    return len(expected_steps) == len(actual) and all(
        fits(item, action, rule) for item, action in zip(expected_steps, actual, strict=True)
    )


@given(observed, expected, arguments)
def test_exact_compares_position_by_position(actual, expected_steps, rule):
    assert match(actual, expected_steps, "exact", arguments=rule).agrees is explained(
        actual, expected_steps, rule
    )


@given(observed, expected, arguments)
def test_in_order_is_a_subsequence_that_is_exact(actual, expected_steps, rule):
    chosen = [
        [action for action, keep in zip(actual, included, strict=True) if keep]
        for included in product((True, False), repeat=len(actual))
    ]

    # Where nothing is required, no action may be seen.
    result = (
        any(explained(some, expected_steps, rule) for some in chosen)
        if expected_steps
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
        assert item.agrees is other.agrees
        shares = [each.shares for each in (item, other)]
        assert len({(each["precision"], each["recall"], each["f1"]) for each in shares}) == 1


@given(observed, expected, arguments)
def test_shares_and_counts_are_those_of_the_lists(actual, expected_steps, rule):
    result = match(actual, expected_steps, "any_order", arguments=rule)

    assert result.actual_count == len(actual) == result.matched_count + len(result.extra_actions)
    assert result.expected_count == len(expected_steps) == result.matched_count + len(result.missing_actions)
    assert result.shares["precision"] == (result.matched_count / len(actual) if actual else None)
    assert result.shares["recall"] == (
        result.matched_count / result.expected_count if result.expected_count else None
    )
    for share in (result.shares["f1"], result.shares["score"]):
        assert share is None or 0 <= share <= 1


@given(observed, expected, arguments, st.sampled_from(["exact", "in_order", "any_order"]))
def test_a_trajectory_that_does_not_agree_says_why(actual, expected_steps, rule, mode):
    result = match(actual, expected_steps, mode, arguments=rule)
    wrong = [*result.missing_actions, *result.order_violations]

    if mode == "exact" or not result.expected_count:
        wrong += result.extra_actions
    assert result.agrees is not bool(wrong)
    assert result.agrees or not result.order_violations or result.reason.find("out of order") > 0


def test_a_missing_step_with_alternatives_names_them_all_once():
    assert match([], [either(step("a"), step("b"), step("a", {"x": 1}))]).missing_actions == ["a | b"]


def test_single_tool_needs_one_step(subtests):
    for steps, given_count in [([], 0), (["a", "b"], 2)]:
        with subtests.test(steps=steps):
            result = match(["a"], steps, "single_tool")

            told = f"mode single_tool needs exactly one expected action; {given_count} were given"
            assert (result.agrees, result.passed, result.matched_count) == (None, None, 0)
            assert (result.shares["score"], result.shares["precision"]) == (None, None)
            assert result.error == told


def test_disagreement_is_told_in_one_sentence(subtests):
    for actual, steps, mode, problems in [
        (["x"], ["a"], "exact", "missing a; extra x"),
        (["x"], ["a"], "in_order", "missing a"),
        (["x"], ["a"], "subset", "extra x"),
        *((["b", "a"], ["a", "b"], mode, "out of order b") for mode in ("exact", "in_order")),
        ([seen("a", {"x": 1})], [step("a", {"x": 2})], "any_order", "missing a; a has 1 for x, not 2"),
        ([], [*"abcdefg"], "in_order", "missing a, b, c, d, e and 2 more"),
        ([], ["a\nb"], "in_order", r"missing 'a\nb'"),
        ([], ["a" * 61], "in_order", f"missing {'a' * 59}…"),
    ]:
        with subtests.test(actual=actual, steps=steps, mode=mode):
            assert match(actual, steps, mode).reason == (
                f"The actions do not agree with the expected ones in mode {mode}: {problems}."
            )


def test_too_many_comparisons_leave_it_undecided():
    assert "too many actions" in match([seen()] * 1001, ["b"] * 1001).error


OBSERVED = 4
candidates = st.lists(st.lists(st.integers(0, OBSERVED - 1), unique=True), max_size=5)


def best(fitting):
    """The most steps that can be served: by trying everything."""
    places = [*range(OBSERVED), *[None] * len(fitting)]
    return max(
        sum(place is not None for place in places)
        for places in set(permutations(places, len(fitting)))
        if all(place is None or place in fitting[step] for step, place in enumerate(places))
    )


@given(candidates)
def test_nobody_finds_more_pairs(fitting):
    assigned = assign_actions(fitting)

    assert len(assigned) == best(fitting)
    assert len(set(assigned.values())) == len(assigned)
    assert all(place in fitting[step] for step, place in assigned.items())


def test_many_equal_steps_without_actions_for_all_are_decided_at_once():
    size = 1000

    assert len(assign_actions([range(size // 2)] * size)) == size // 2


def parallel(*names, message=1):
    return [seen(name, message=message) for name in names]


@given(st.lists(st.sampled_from("abc"), max_size=4), st.lists(st.sampled_from("abc"), max_size=4))
def test_the_order_of_parallel_calls_makes_no_difference(actual, expected):
    any_order = match(actual, expected, "precision_recall").agrees

    assert match(parallel(*actual), expected, "exact").agrees is any_order


def test_the_calls_of_one_recorded_message_are_parallel():
    parallel_calls = calling("b", "a"), answered("b"), answered("a")
    messages = [user("Go."), *parallel_calls, calling("c"), answered("c"), said("Done.")]

    for run in (run_from_messages(messages), {"messages": messages}):
        case = {"agent_run": run, "trajectory_match_mode": "exact"}
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


ROWS = read_rows()


def test_a_row_of_the_table_is_answered_as_it_says(subtests):
    for row in ROWS:
        with subtests.test(row=row):
            assert row.match().passed is row.passed


def test_rows_are_numbered_and_no_case_stands_twice():
    cases = [(row.mode, str(row.actual), str(row.expected), str(row.rules)) for row in ROWS]

    assert [row.row for row in ROWS] == list(range(1, len(ROWS) + 1))
    assert len(set(cases)) == len(ROWS) >= 60


def test_every_answer_of_another_kit_that_differs_is_explained_and_no_other(subtests):
    for kit in KITS:
        with subtests.test(kit=kit):
            answers = read_peers()["answers"]
            differing = {
                row.row
                for row in ROWS
                if kit in answers.get(str(row.row), {})
                and read_verdict(answers[str(row.row)][kit]) is not row.passed
            }

            assert differing == {row.row for row in ROWS if kit in row.why}
