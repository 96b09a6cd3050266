"""An exception in an agent ends the run as data, and loses nothing."""

from __future__ import annotations

import asyncio

from tests.fakes.executor import AsyncFakeExecutor, FakeExecutor
from tests.fakes.planner import AsyncFakePlanner, FakePlanner
from tests.fakes.runs import run


def test_an_exception_of_the_planner_comes_back_with_its_cause(subtests):
    for planner in [FakePlanner, AsyncFakePlanner]:
        with subtests.test(planner=planner):
            state = run(planner=planner(ValueError("no idea")), task="the task")

            assert (state["status"], state["task"], state["plan"], state["results"]) == (
                "failed",
                "the task",
                [],
                [],
            )
            assert state["failure"] == {
                "kind": "planner_error",
                "message": "ValueError: no idea",
                "step_index": None,
                "error_type": "ValueError",
            }


def test_an_exception_of_the_executor_keeps_what_was_done_before(subtests):
    for executor in [FakeExecutor, AsyncFakeExecutor]:
        with subtests.test(executor=executor):
            state = run(executor("first", KeyError("missing")), task="the task")

            assert [(record["result"], record["status"]) for record in state["results"]] == [
                ("first", "validated"),
                ("", "failed"),
            ]
            assert (state["context"], state["current_step_index"]) == ("Step 1: one\nResult: first", 1)
            assert state["failure"] == {
                "kind": "executor_error",
                "message": "step 2: KeyError: 'missing'",
                "step_index": 1,
                "error_type": "KeyError",
            }


def test_a_cancelled_error_that_nobody_asked_for_ends_the_run_as_data():
    """An agent whose own inner task was cancelled has failed; the run was not cancelled."""
    state = run(AsyncFakeExecutor(asyncio.CancelledError()), task="the task")

    assert (state["status"], state["failure"]["kind"]) == ("failed", "executor_error")
