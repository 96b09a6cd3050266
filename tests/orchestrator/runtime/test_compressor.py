"""A compressor before the executor."""

from __future__ import annotations

from orchestrator import LangGraphOrchestrator
from tests.fakes.compressor import AsyncFakeCompressor, FakeCompressor, RunCompressor, TaskCompressor
from tests.fakes.executor import FakeExecutor
from tests.fakes.monitor import FakeMonitor
from tests.fakes.planner import FakePlanner


def run(compressor, plan=("one", "two", "three"), executor=None, monitor=None, **options):
    agents = FakePlanner(list(plan)), executor or FakeExecutor(), monitor or FakeMonitor()
    return LangGraphOrchestrator(*agents, compressor, **options).run("the task")


def test_a_compressor_is_asked_before_every_later_execution():
    compressor = FakeCompressor("short")
    run(compressor)

    assert compressor.texts == ["Step 1: one\nResult: one done", "short\n\nStep 2: two\nResult: two done"]


def test_each_documented_form_is_called(subtests):
    for compressor, context in [
        (FakeCompressor("short"), "short"),
        (AsyncFakeCompressor("short"), "short"),
        (RunCompressor(), "run"),
    ]:
        with subtests.test(compressor=compressor):
            executor = FakeExecutor()
            run(compressor, ["one", "two"], executor)

            assert executor.calls[1].context == context


def test_a_compressor_with_compress_is_told_the_task():
    compressor = TaskCompressor("short")
    run(compressor, ["one", "two"])

    assert compressor.tasks == ["the task"]


def test_an_error_of_the_compressor_ends_the_run_with_the_earlier_results(subtests):
    for answer, message, error_type in [
        (ValueError("no room"), "ValueError: no room", "ValueError"),
        (lambda text: None, "the compressor returned a NoneType; text is wanted", None),
    ]:
        with subtests.test(answer=answer):
            executor = FakeExecutor()
            state = run(FakeCompressor(answer), executor=executor)

            assert len(executor.calls) == len(state["results"]) == 1
            assert (state["status"], state["context"]) == ("failed", "Step 1: one\nResult: one done")
            assert state["failure"] == {
                "kind": "compressor_error",
                "message": f"step 2: {message}",
                "step_index": 1,
                "error_type": error_type,
            }
