"""Versions of channels sort as their counters do, also after those of LangGraph's own savers."""

from __future__ import annotations

import sqlite3

from hypothesis import given
from hypothesis import strategies as st
from langgraph.checkpoint.sqlite import SqliteSaver

from orchestrator.runs.run_saver import next_version

counters = st.integers(0, 99_999_998)


def long(counter):
    """What LangGraph's saver writes."""
    saver = SqliteSaver(sqlite3.connect(":memory:"))
    saver.conn.close()
    return saver.get_next_version(counter - 1, None)


@given(counters, counters)
def test_versions_sort_as_their_counters(one, other):
    first, second = next_version(one), next_version(other)

    assert one == other or (first < second) == (one < other)


@given(st.integers(1, 99_999_998))
def test_the_version_after_another_is_greater(counter):
    for current in (next_version(counter - 1), long(counter)):
        following = next_version(current)
        assert (following > current, int(following.split(".")[0])) == (True, counter + 1)
