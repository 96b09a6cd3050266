"""Work side by side: results in order, a bounded number in memory, nothing lost by a broken source."""

from concurrent.futures import ThreadPoolExecutor
from itertools import count, islice

import pytest

from evaluation.runner import in_order


def broken_after(number):
    yield from range(number)
    raise OSError("the file ends here")


@pytest.fixture
def pool():
    with ThreadPoolExecutor(3) as executor:
        yield executor


def test_results_come_in_the_order_of_the_items(pool):
    assert list(in_order(pool, lambda number: number * 2, range(50), 4)) == [
        2 * number for number in range(50)
    ]


def test_an_endless_source_is_read_only_as_far_as_the_window(pool):
    taken = []

    def source():
        for number in count():
            taken.append(number)
            yield number

    results = list(islice(in_order(pool, str, source(), 5), 10))

    assert len(results) == 10
    assert len(taken) <= 15


def test_a_broken_source_raises_after_the_results_before_it(pool):
    seen = []
    with pytest.raises(OSError, match="ends here"):
        seen.extend(in_order(pool, str, broken_after(7), 3))
    assert seen == ["0", "1", "2", "3", "4", "5", "6"]
