"""The executor and the monitor see the task and the outline of the plan beside their step."""

from __future__ import annotations

from tests.fakes.executor import FakeExecutor, PlainExecutor, TwinExecutor
from tests.fakes.monitor import FakeMonitor
from tests.fakes.planner import steps
from tests.fakes.runs import run
from tests.fakes.supervision import FakeSupervisor, SpeakingExecutor

TASK = "Choose a database for a hospital"
PLAN = ["List candidates", "Compare them", "Decide"]
OUTLINE = f"{TASK}\nPlan of 3 steps:\n1. List candidates\n2. Compare them <- current step\n3. Decide"


class TaskMonitor(FakeMonitor):
    """A monitor that takes the task."""

    def __init__(self, *answers):
        super().__init__(*answers)
        self.tasks = []

    def evaluate(self, objective, result, task=""):
        self.tasks.append(task)
        return super().evaluate(objective, result)


def test_an_executor_that_takes_the_task_is_given_it_with_the_marked_outline(subtests):
    for executor in [FakeExecutor(), TwinExecutor()]:
        with subtests.test(executor=executor):
            run(executor, plan=PLAN, task=TASK)

            assert executor.calls[1].task == OUTLINE


def test_a_monitor_that_takes_the_task_is_given_it():
    monitor = TaskMonitor()
    run(FakeExecutor(), monitor, plan=PLAN, task=TASK)

    assert monitor.tasks[1] == OUTLINE


def test_a_step_that_is_the_whole_task_is_asked_without_a_header():
    executor, monitor = PlainExecutor(), TaskMonitor()
    run(executor, monitor, plan=[TASK], task=TASK)

    assert (executor.calls[0].context, monitor.tasks) == ("", [""])


def test_the_outline_of_a_long_plan_holds_the_steps_around_the_current_one():
    executor = FakeExecutor()
    run(executor, plan=[f"{step} {'x' * 500}" for step in steps(30)], task=TASK)

    lines = executor.calls[14].task.splitlines()
    assert lines[2] == "(11 earlier)"
    assert lines[-1] == "(9 later)"
    assert next(line for line in lines if line.endswith("<- current step")).startswith("15. step 15 x")
    assert max(len(call.task) for call in executor.calls) < 1500


def test_parallel_steps_are_given_the_outline_of_the_whole_plan():
    executor = FakeExecutor()
    run(
        executor,
        plan=[{"step": "a", "needs": []}, {"step": "b", "needs": []}, {"step": "c", "needs": [1, 2]}],
        task=TASK,
    )

    tasks = {call.step: call.task for call in executor.calls}
    assert tasks["b"] == f"{TASK}\nPlan of 3 steps:\n1. a\n2. b <- current step\n3. c"
    assert tasks["c"].endswith("3. c <- current step")


class TaskSpeakingExecutor(SpeakingExecutor):
    """An executor whose methods of supervision take the task."""

    def __init__(self):
        super().__init__()
        self.tasks = []

    def commit_step(self, step, context="", task=""):
        self.tasks.append(("commit", task))
        return super().commit_step(step, context)

    def assess_step(self, step, commitment, output, task=""):
        self.tasks.append(("assess", task))
        return super().assess_step(step, commitment, output)


def test_the_phases_of_supervision_are_given_the_task():
    executor, supervisor = (
        TaskSpeakingExecutor(),
        FakeSupervisor(reconciled={"triggers": ["x"], "escalate": True}),
    )
    run(executor, plan=PLAN, task=TASK, supervision="llm", supervisor=supervisor)

    assert executor.tasks[2:4] == [("commit", OUTLINE), ("assess", OUTLINE)]
    assert supervisor.requests[1]["task"] == OUTLINE
