"""A run that was cut off as it began."""

from __future__ import annotations

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from orchestrator import LangGraphOrchestrator
from orchestrator.events import RunResumed
from tests.fakes.executor import FakeExecutor
from tests.fakes.hook import RecordingHook
from tests.fakes.monitor import FakeMonitor
from tests.fakes.planner import FakePlanner


class KeepsTheBeginning(InMemorySaver):
    """Fails at what follows a run's first checkpoint."""

    lost = False

    async def aput_writes(self, config, writes, task_id, task_path=""):
        if self.lost:
            raise OSError("the disk is gone")
        await super().aput_writes(config, writes, task_id, task_path)


@pytest.fixture(params=[False, True], ids=["new thread", "thread of an earlier run"])
def resumed(request):
    """The events and the end of a run of which its input alone was kept."""
    saver, hook = KeepsTheBeginning(), RecordingHook()
    agents = FakePlanner(lambda task: [f"do {task}"]), FakeExecutor(), FakeMonitor()
    orchestrator = LangGraphOrchestrator(*agents, checkpointer=saver, hooks=[hook])
    if request.param:
        orchestrator.run("an earlier task", "thread")
    saver.lost = True
    with pytest.raises(OSError, match="the disk is gone"):
        orchestrator.run("the task", "thread", replace=True)
    saver.lost = False
    return hook, orchestrator.resume("thread")


def test_it_goes_on_with_its_task(resumed):
    _, state = resumed

    assert (state["status"], [record["result"] for record in state["results"]]) == (
        "success",
        ["do the task done"],
    )


def test_its_state_is_that_of_nothing_done_when_it_is_resumed(resumed):
    hook, _ = resumed
    (state,) = (event.state for event in hook.events if isinstance(event, RunResumed))

    assert (state["task"], state["status"], state["results"]) == ("the task", "planning", [])
