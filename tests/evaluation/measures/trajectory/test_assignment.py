"""As many pairs as possible, required steps first."""

from itertools import permutations

from hypothesis import given
from hypothesis import strategies as st

from evaluation.measures.trajectory.matching import assign_actions

OBSERVED = 4
candidates = st.lists(st.lists(st.integers(0, OBSERVED - 1), unique=True), max_size=5)
needs = st.lists(st.booleans(), min_size=5, max_size=5)


def best(fitting, required):
    """The most required steps that can be served, and then the most steps: by trying everything."""
    places = [*range(OBSERVED), *[None] * len(fitting)]
    return max(
        (
            sum(place is not None for step, place in enumerate(places) if step in required),
            sum(place is not None for place in places),
        )
        for places in set(permutations(places, len(fitting)))
        if all(place is None or place in fitting[step] for step, place in enumerate(places))
    )


@given(candidates, needs)
def test_nobody_finds_more_pairs(fitting, optional):
    steps = range(len(fitting))
    required = [step for step in steps if not optional[step]]
    assigned = assign_actions(fitting, [*required, *(step for step in steps if optional[step])])

    assert (len(assigned.keys() & set(required)), len(assigned)) == best(fitting, required)
    assert len(set(assigned.values())) == len(assigned)
    assert all(place in fitting[step] for step, place in assigned.items())


def test_many_equal_steps_without_actions_for_all_are_decided_at_once():
    size = 1000

    assert len(assign_actions([range(size // 2)] * size, range(size))) == size // 2
