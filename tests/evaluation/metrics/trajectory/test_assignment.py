"""As many pairs as possible, required steps first."""

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.metrics.trajectory.assignment import UndecidedError, assign_actions

OBSERVED = 4
masks = st.lists(st.integers(0, 2**OBSERVED - 1), max_size=5)
needs = st.lists(st.booleans(), min_size=5, max_size=5)


def by_need(some, optional):
    steps = range(len(some))
    return [step for step in steps if not optional[step]], [step for step in steps if optional[step]]


def best(some, required):
    """The most required steps that can be served, and then the most steps: by trying everything."""
    places = [*range(OBSERVED), *[None] * len(some)]
    return max(
        (
            sum(place is not None for step, place in enumerate(places) if step in required),
            sum(place is not None for place in places),
        )
        for places in set(permutations(places, len(some)))
        if all(place is None or some[step] >> place & 1 for step, place in enumerate(places))
    )


@given(masks, needs)
def test_nobody_finds_more_pairs(some, optional):
    required, others = by_need(some, optional)

    assigned = assign_actions(some, [*required, *others], OBSERVED)

    served = sum(assigned[step] >= 0 for step in required)
    assert (served, sum(place >= 0 for place in assigned)) == best(some, required)


@given(masks)
def test_a_step_holds_what_fits_and_nothing_is_held_twice(some):
    assigned = assign_actions(some, range(len(some)), OBSERVED)

    taken = [place for place in assigned if place >= 0]
    assert len(taken) == len(set(taken))
    assert all(place < 0 or some[step] >> place & 1 for step, place in enumerate(assigned))


@pytest.mark.parametrize(
    ("some", "assigned"),
    [
        ([0b110], [1]),  # the first free action
        ([0b0, 0b1], [-1, 0]),
        ([0b011, 0b001], [1, 0]),  # an early choice moves for a later step
        ([0b0011, 0b0001, 0b1000], [1, 0, 3]),  # what is free stays free
        ([0b101, 0b010, 0b011], [2, 1, 0]),  # the holder of every candidate may move
    ],
)
def test_choices_are_always_the_same(some, assigned):
    assert assign_actions(some, range(len(some)), 4) == assigned


def test_many_equal_steps_without_actions_for_all_are_decided_at_once():
    size = 5000

    assigned = assign_actions([(1 << size // 2) - 1] * size, range(size), size // 2)

    assert sum(place >= 0 for place in assigned) == size // 2


def test_a_search_of_too_many_steps_is_undecided():
    chain = [*[0b11 << index for index in range(9)], 0b1]  # each step moves to make room for the last one

    assert assign_actions(chain, range(10), 10, max_search_steps=9) == [*range(1, 10), 0]
    with pytest.raises(UndecidedError, match=r"^the assignment takes too many steps of search$"):
        assign_actions(chain, range(10), 10, max_search_steps=8)
