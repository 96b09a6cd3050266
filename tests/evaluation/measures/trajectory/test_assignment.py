"""As many pairs as possible."""

from itertools import permutations

from hypothesis import given
from hypothesis import strategies as st

from evaluation.measures.trajectory_matching import assign_actions

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
