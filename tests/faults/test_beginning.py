"""A run that was cut off as it began."""

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


@pytest.mark.parametrize("is_used", [False, True], ids=["new thread", "thread of an earlier run"])
def test_a_run_of_which_its_input_alone_was_kept_goes_on_with_its_task(is_used):
    saver, hook = KeepsTheBeginning(), RecordingHook()
    agents = FakePlanner(lambda task: [f"do {task}"]), FakeExecutor(), FakeMonitor()
    orchestrator = LangGraphOrchestrator(*agents, checkpointer=saver, hooks=[hook])
    if is_used:
        orchestrator.run("an earlier task", "thread")
    saver.lost = True
    with pytest.raises(OSError, match="the disk is gone"):
        orchestrator.run("the task", "thread", replace=True)
    saver.lost = False
    state = orchestrator.resume("thread")

    (before,) = (event.state for event in hook.events if isinstance(event, RunResumed))
    assert (before["task"], before["status"], before["results"]) == ("the task", "planning", [])
    assert (state["status"], state["results"][0]["result"]) == ("success", "do the task done")
