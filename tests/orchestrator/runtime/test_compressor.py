"""A compressor before the executor."""

from __future__ import annotations

from tests.fakes.compressor import AsyncFakeCompressor, FakeCompressor, RunCompressor, TaskCompressor
from tests.fakes.executor import FakeExecutor
from tests.fakes.runs import run


def test_a_compressor_is_asked_before_every_later_execution():
    compressor = FakeCompressor("short")
    run(plan=["one", "two", "three"], compressor=compressor, task="the task")

    assert compressor.texts == ["Step 1: one\nResult: one done", "short\n\nStep 2: two\nResult: two done"]


def test_each_documented_form_is_called(subtests):
    for compressor, context in [
        (FakeCompressor("short"), "short"),
        (AsyncFakeCompressor("short"), "short"),
        (RunCompressor(), "run"),
    ]:
        with subtests.test(compressor=compressor):
            executor = FakeExecutor()
            run(executor, plan=["one", "two"], compressor=compressor, task="the task")

            assert executor.calls[1].context == context


def test_a_compressor_with_compress_is_told_the_task():
    compressor = TaskCompressor("short")
    run(plan=["one", "two"], compressor=compressor, task="the task")

    assert compressor.tasks == ["the task"]


def test_an_error_of_the_compressor_ends_the_run_with_the_earlier_results(subtests):
    for answer, message, error_type in [
        (ValueError("no room"), "ValueError: no room", "ValueError"),
        (lambda text: None, "the compressor returned a NoneType; text is wanted", None),
    ]:
        with subtests.test(answer=answer):
            executor = FakeExecutor()
            state = run(
                executor, plan=["one", "two", "three"], compressor=FakeCompressor(answer), task="the task"
            )

            assert len(executor.calls) == len(state["results"]) == 1
            assert (state["status"], state["context"]) == ("failed", "Step 1: one\nResult: one done")
            assert state["failure"] == {
                "kind": "compressor_error",
                "message": f"step 2: {message}",
                "step_index": 1,
                "error_type": error_type,
            }
