"""Whenever its process is killed, a run makes no call of an acting tool again without a question.

``pytest -m faults`` kills 200 times; ``pytest -m sample`` some times.
"""

import random

import pytest

from tests.faults.children import ended, killed_at
from tests.faults.paying import find_harm, start

pytestmark = [pytest.mark.faults, pytest.mark.timeout(1800)]


@pytest.mark.parametrize("wanted", [pytest.param(2, marks=pytest.mark.sample), 50])
@pytest.mark.parametrize("kind", ["run", "agent"])
def test_no_call_is_made_again_without_a_question_and_none_that_is_answered_is_asked_about(
    make_place, kind, wanted
):
    chance, kills = random.Random(wanted), 0
    while kills < wanted:
        place, is_over = make_place(), False
        while not is_over:
            child = start(place, kind, chance.randrange(1000))
            killed_at(child, place.log, chance.randrange(1, 10), chance.random() * 0.02)
            is_over = ended(child, place)
            kills += not is_over
        assert find_harm(place.log) == []
