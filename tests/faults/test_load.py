"""Many runs at once: none is lost, and none holds anything of another.

``benchmarks/load.py`` does the same with more of them, and says how fast they are.
"""

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from orchestrator.persistence import open_store
from tests.faults.loading import at_once, by_processes, one_after_another

pytestmark = pytest.mark.soak
MANY = [f"run {number}" for number in range(500)]


def test_five_hundred_runs_at_once_on_one_event_loop_are_kept_apart_in_memory():
    load = at_once(InMemorySaver(), MANY)

    assert (len(load.latencies), load.wrong) == (500, 0)


@pytest.mark.sample
def test_runs_at_once_on_one_event_loop_are_kept_apart_in_a_file(tmp_path):
    with open_store(tmp_path / "runs.sqlite") as store:
        load = at_once(store.saver, MANY[:100])

    assert (len(load.latencies), load.wrong) == (100, 0)


def test_eight_processes_write_to_one_file_at_once_and_lose_nothing(tmp_path):
    load = by_processes(tmp_path / "runs.sqlite", processes=8, runs=5)

    assert (len(load.latencies), load.wrong) == (40, 0)


@pytest.fixture
def warm():
    """All that is made once is there."""
    one_after_another(None, MANY[:100])


def test_nothing_is_left_of_a_thousand_runs(warm):
    assert one_after_another(None, MANY * 2) < 500
