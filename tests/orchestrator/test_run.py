import pytest

from agents.testing import ScriptedChatModel
from orchestrator import ConfigurationError, LangGraphOrchestrator, RetryPolicy
from tests.fakes.executor import AsyncFakeExecutor, FakeExecutor, PlainExecutor, TwinExecutor
from tests.fakes.monitor import AsyncFakeMonitor, FakeMonitor, accept, refuse
from tests.fakes.planner import AsyncFakePlanner, steps
from tests.fakes.runs import build, run
from tests.fakes.supervision import FakeSupervisor, SpeakingExecutor

STATE_FIELDS = {
    "task": str,
    "plan": list,
    "current_step_index": int,
    "context": str,
    "results": list,
    "attempts": int,
    "max_retries": int,
    "status": str,
}
MORE_FIELDS = {
    *("failure", "usage", "declared", "replaced", "retries", "judge_calls", "warnings", "question"),
    *("underway", "synthesis", "effects", "output", "basis", "evidence"),
}


def test_every_documented_field_is_in_the_final_state(subtests):
    for monitor in [
        FakeMonitor(),
        FakeMonitor(refuse()),
        FakeMonitor(refuse(), accept()),
        FakeMonitor({"unreadable": True}),
        FakeMonitor(ValueError("broken")),
    ]:
        with subtests.test(monitor=monitor):
            state = build(monitor=monitor).run("the task")

            assert {name: type(state[name]) for name in STATE_FIELDS} == STATE_FIELDS
            assert set(state) == {*STATE_FIELDS, *MORE_FIELDS}


def test_the_state_ends_with_the_index_and_the_attempts_of_its_last_step(subtests):
    for plan, verdicts, index, attempts in [
        (["one"], [refuse()], 0, 3),
        (["one"], [refuse(), refuse(), accept()], 1, 0),
        (["one", "two"], [refuse(), refuse(), accept(), refuse()], 1, 3),
    ]:
        with subtests.test(plan=plan, verdicts=verdicts):
            state = build(monitor=FakeMonitor(*verdicts), plan=plan, max_retries=2).run("x")

            assert (state["current_step_index"], state["attempts"]) == (index, attempts)


@pytest.mark.parametrize("number", [36, pytest.param(900, marks=pytest.mark.soak)])
def test_many_steps_with_retries_stay_within_the_recursion_limit(number):
    monitor = AsyncFakeMonitor(*[*[accept()] * 9, refuse()] * (number // 9))
    state = run(AsyncFakeExecutor(), monitor, planner=AsyncFakePlanner(steps(number)))

    assert (state["status"], len(state["results"])) == ("success", number + (number - 1) // 9)


def test_a_plan_longer_than_max_plan_steps_is_refused_before_any_step():
    executor = FakeExecutor()
    state = build(executor, plan=steps(5), max_plan_steps=4).run("x")

    assert (state["status"], state["failure"]["kind"], executor.calls) == ("failed", "plan_invalid", [])
    assert state["failure"]["message"] == "the plan has 5 steps; max_plan_steps is 4"


@pytest.mark.parametrize("result", [None, 3, ["text"], {"output": "x"}])
def test_a_result_that_is_no_text_fails_the_run_and_says_so(result):
    monitor = FakeMonitor()
    state = build(FakeExecutor(lambda step, context: result), monitor, plan=["one"]).run("x")

    assert (state["status"], state["failure"]["kind"], monitor.calls) == ("failed", "executor_error", [])
    told = f"step 1: the executor returned a {type(result).__name__}; text is wanted"
    assert state["failure"]["message"] == told


TASK = "Choose a database for a hospital"
PLAN = ["List candidates", "Compare them", "Decide"]
OUTLINE = f"{TASK}\nPlan of 3 steps:\n1. List candidates\n2. Compare them <- current step\n3. Decide"


class TaskMonitor(FakeMonitor):
    def __init__(self, *answers):
        super().__init__(*answers)
        self.tasks = []

    def evaluate(self, objective, result, task=""):
        self.tasks.append(task)
        return super().evaluate(objective, result)


def test_an_executor_and_a_monitor_that_take_the_task_are_given_it_with_the_marked_outline(subtests):
    for executor in [FakeExecutor(), TwinExecutor()]:
        with subtests.test(executor=executor):
            monitor = TaskMonitor()
            run(executor, monitor, plan=PLAN, task=TASK)

            assert (executor.calls[1].task, monitor.tasks[1]) == (OUTLINE, OUTLINE)


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


class TaskSpeakingExecutor(SpeakingExecutor):
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
    executor = TaskSpeakingExecutor()
    supervisor = FakeSupervisor(reconciled={"triggers": ["x"], "escalate": True})
    run(executor, plan=PLAN, task=TASK, supervision="llm", supervisor=supervisor)

    assert executor.tasks[2:4] == [("commit", OUTLINE), ("assess", OUTLINE)]
    assert supervisor.requests[1]["task"] == OUTLINE


# When the planner is asked: first, after all attempts at the whole task, or never


YES = '{"success": true, "feedback": "good"}'
NO = '{"success": false, "feedback": "Name the year."}'
PLANNED = '{"plan": ["Find the year", "Write the sentence"]}'


def build_from_model(replies, *, tools=None, **options):
    model = ScriptedChatModel(replies)
    return model, LangGraphOrchestrator.from_model(model, tools=tools, contract=None, **options)


def test_a_task_without_tools_is_tried_as_a_whole_first():
    model, orchestrator = build_from_model(["It was in 1066.", YES])
    state = orchestrator.run("When was the battle?")

    assert (state["status"], state["output"]) == ("success", "It was in 1066.")
    assert state["plan"] == ["When was the battle?"]
    assert state["usage"]["model_calls"] == len(model.prompts) == 2


def test_the_planner_is_asked_if_all_attempts_failed_and_is_told_why():
    replies = ["Long ago.", NO, PLANNED, "1066", YES, "It was in 1066.", YES, "In 1066.", YES]
    model, orchestrator = build_from_model(replies, max_retries=0)
    state = orchestrator.run("When was the battle?")

    assert state["status"] == "success"
    assert state["plan"] == ["When was the battle?", "Find the year", "Write the sentence"]
    assert state["replaced"] == [0]
    request = model.prompts[2][-1].text
    assert "When was the battle?" in request
    assert "Name the year." in request


def test_never_asks_no_planner_even_if_all_attempts_failed(subtests):
    for policy in [RetryPolicy(max_retries=0), RetryPolicy(max_retries=0, max_replans=2)]:
        with subtests.test(policy=policy):
            model, orchestrator = build_from_model(["Long ago.", NO], planning="never", retry_policy=policy)
            state = orchestrator.run("When was the battle?")

            assert (state["status"], state["plan"]) == ("failed", ["When was the battle?"])
            assert len(model.prompts) == 2


def test_an_unknown_mode_is_refused_before_anything_runs():
    with pytest.raises(ConfigurationError, match="planning is 'later'; give 'always', 'auto' or 'never'"):
        build_from_model([], planning="later")
