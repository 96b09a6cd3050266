"""Groups without order among steps and actions, against every order that they allow."""

from itertools import permutations, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.metrics.trajectory import group_order
from evaluation.metrics.trajectory.assignment import UndecidedError, assign_actions
from evaluation.metrics.trajectory.group_order import Order, find_outside_sequence, number_groups

sizes = st.lists(st.integers(1, 3), max_size=3)


@st.composite
def problems(draw):
    """Masks, flags of optional steps, and groups; often with a solution."""
    step_sizes, action_sizes = draw(sizes), draw(sizes)
    steps, actions = sum(step_sizes), sum(action_sizes)
    masks = [draw(st.integers(0, 2**actions - 1)) for _ in range(steps)]
    if draw(st.booleans()):
        masks = [mask | 1 << min(index, actions - 1) if actions else mask for index, mask in enumerate(masks)]
    optional = [draw(st.sampled_from([False, False, True])) for _ in range(steps)]
    return masks, optional, Order(groups(step_sizes), groups(action_sizes))


def groups(each_size):
    return [number for number, size in enumerate(each_size) for _ in range(size)]


def every_order(group_of):
    members = [
        [index for index, each in enumerate(group_of) if each == group] for group in sorted({*group_of})
    ]
    for chosen in product(*map(permutations, members)):
        yield [index for part in chosen for index in part]


def is_subsequence(masks, steps, actions):
    """Whether the steps can take actions one after the other, each as early as possible."""
    rest = iter(actions)
    return all(any(masks[step] >> action & 1 for action in rest) for step in steps)


def is_exact(masks, steps, actions):
    return len(steps) == len(actions) and all(
        masks[step] >> action & 1 for step, action in zip(steps, actions, strict=True)
    )


def exists_in_order(masks, chosen, problem_order):
    return any(
        is_subsequence(masks, [step for step in steps if step in chosen], actions)
        for steps in every_order(problem_order.group_of_step)
        for actions in every_order(problem_order.group_of_action)
    )


def exists_exact(masks, optional, problem_order):
    choices = product(*[(True, False) if flag else (True,) for flag in optional])
    return any(
        is_exact(masks, [step for step in steps if included[step]], actions)
        for included in choices
        for steps in every_order(problem_order.group_of_step)
        for actions in every_order(problem_order.group_of_action)
        if sum(included) == len(actions)
    )


@given(problems())
def test_steps_are_in_order_exactly_if_one_order_of_the_groups_is(problem):
    masks, optional, problem_order = problem
    required = [step for step, flag in enumerate(optional) if not flag]
    assigned = assign_actions(masks, range(len(masks)), len(problem_order.group_of_action))

    outside = problem_order.find_out_of_order(masks, required, assigned)

    assert (outside == []) is exists_in_order(masks, set(required), problem_order)
    assert outside == sorted(set(outside) & set(required))
    assert exists_in_order(masks, set(required) - set(outside), problem_order)


@given(problems())
def test_steps_and_actions_are_the_same_exactly_if_one_order_of_the_groups_is(problem):
    masks, optional, problem_order = problem

    assert problem_order.matches_exact(masks, optional) is exists_exact(masks, optional, problem_order)


def test_an_early_step_moves_within_its_group_of_actions():
    # Step 0 takes action 1, or step 1 of the next group would have none.
    assert Order([0, 1], [0, 0]).find_out_of_order([0b11, 0b01], [0, 1], [0, -1]) == []


def test_a_long_trajectory_with_an_optional_step_and_a_group_is_decided():
    size = 5000
    masks = [1 << index for index in range(size)]
    flags = [False] * (size - 1) + [True]

    assert Order([0, *range(size - 1)], range(size)).matches_exact(masks, flags)
    assert not Order([0, *range(size - 1)], [*range(size), size]).matches_exact(masks, flags)


def test_too_many_choices_are_undecided(monkeypatch):
    monkeypatch.setattr(group_order, "MAX_WORK", 50)
    with pytest.raises(UndecidedError, match="too many choices"):
        Order([0] * 8, [0] * 4).matches_exact([0b1110] * 8, [True] * 8)


OBSERVED = 6
some_masks = st.lists(st.integers(0, 2**OBSERVED - 1), max_size=7)


def longest(some):
    row = [0] * (OBSERVED + 1)
    for mask in some:
        before, row = row, [0]
        for index in range(OBSERVED):
            row.append(max(before[index] + (mask >> index & 1), before[index + 1], row[index]))
    return row[-1]


@given(some_masks)
def test_what_is_in_order_is_as_long_as_possible_and_in_order(some):
    outside = find_outside_sequence(some)
    inside = [mask for step, mask in enumerate(some) if step not in outside]

    assert outside == sorted(set(outside))
    assert longest(inside) == len(inside) == longest(some)


def test_one_longest_sequence_is_left_always_the_same():
    cases = {(0b001, 0b010, 0b100): [], (0b010, 0b100, 0b001): [2], (): [], (0,): [0]}
    assert {masks: find_outside_sequence(masks) for masks in cases} == cases


EQUAL = [(1 << 1000) - 1] * 1000
REVERSED = [1 << index for index in reversed(range(3000))]


@pytest.mark.parametrize(
    ("masks", "groups_of"),
    [
        (EQUAL, Order(range(1000), [index // 2 for index in range(1000)])),
        (REVERSED, Order([0] * 3000, range(3000))),
        (REVERSED, Order(range(3000), [0] * 3000)),
    ],
    ids=["equal pairs", "a large group of steps", "many calls of one message"],
)
def test_thousands_of_calls_are_put_in_order(masks, groups_of):
    size = len(masks)

    assert groups_of.find_out_of_order(masks, range(size), [0] * size) == []
    assert groups_of.matches_exact(masks, [False] * size)


def test_neighbours_with_the_same_label_are_a_group():
    assert number_groups([None, 1, 1, 2, None, None, 1]) == [0, 1, 1, 2, 3, 4, 5]
    assert number_groups([]) == []
    assert not Order([0, 1], [0, 1]).has_groups
    assert Order([0, 0], [0]).has_groups
    assert Order([0], [0, 0]).has_groups
