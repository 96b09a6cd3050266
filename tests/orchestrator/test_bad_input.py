from __future__ import annotations

from types import SimpleNamespace

from tests.fakes.executor import done
from tests.fakes.hook import RecordingHook
from tests.fakes.planner import FakePlanner
from tests.fakes.runs import build, refused_with


def test_the_constructor_names_the_argument_what_was_given_and_what_is_accepted(subtests):
    neither = "compressor is a object with neither invoke(text) nor _run(text); give one that has either"
    for argument, given, sentence in [
        ("planner", object(), "planner (object) has no method generate_plan(); give an object that has it"),
        ("compressor", object(), neither),
        ("call_timeout", 0, "call_timeout is 0; give seconds above 0, or leave it out for no bound"),
        ("retry_policy", "policy.yaml", "retry_policy is 'policy.yaml'; give a RetryPolicy"),
        ("checkpointer", "memory", "checkpointer is 'memory'; give "),
        ("hooks", print, "hooks is <built-in function print>; give "),
    ]:
        with subtests.test(argument=argument, given=given), refused_with(sentence):
            build(**{argument: given})


def test_an_agent_that_cannot_be_called_as_its_role_is_refused(subtests):
    for argument, methods, call in [
        ("planner", {"generate_plan": lambda *, task: [task]}, "generate_plan(task)"),
        ("executor", {"execute_step": lambda *, step, context: step}, "execute_step(step, context=...)"),
        ("executor", {"execute_step": lambda step: step}, "execute_step(step, context=...)"),
        ("executor", {"execute_step": done, "synthesize": lambda: ""}, "synthesize(task, results)"),
        ("compressor", {"invoke": str, "compress": lambda text: text}, "compress(text, task=...)"),
    ]:
        name = call.partition("(")[0]
        told = f"{argument} is a SimpleNamespace whose {name}() cannot be called as {call}: "
        with subtests.test(methods=methods), refused_with(told, "; give it these parameters"):
            build(**{argument: SimpleNamespace(**methods)})


def test_a_task_that_is_none_is_refused_before_anything_runs(subtests):
    for task in ["", " \n\t", None, 3, b"task", ["task"]]:
        for method in ["run", "stream"]:
            with subtests.test(task=task, method=method):
                planner, hook = FakePlanner(), RecordingHook()
                with refused_with(f"task is {task!r}; give a text that says what to do, in UTF-8"):
                    getattr(build(planner=planner, hooks=[hook]), method)(task)

                assert (planner.tasks, hook.events) == ([], [])
