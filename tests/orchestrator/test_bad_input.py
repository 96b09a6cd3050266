from __future__ import annotations

from types import SimpleNamespace

import pytest

from orchestrator import ConfigurationError, LangGraphOrchestrator
from tests.fakes.executor import FakeExecutor
from tests.fakes.hook import RecordingHook
from tests.fakes.monitor import FakeMonitor
from tests.fakes.planner import FakePlanner


class Nothing:
    """Has none of the methods."""


def build(**changed):
    agents = {"planner": FakePlanner(), "executor": FakeExecutor(), "monitor": FakeMonitor()}
    return LangGraphOrchestrator(**{**agents, **changed})


def test_the_constructor_names_the_argument_what_was_given_and_what_is_accepted(subtests):
    for argument, given, sentence in [
        ("planner", Nothing(), "planner (Nothing) has no method generate_plan(); give an object that has it"),
        (
            "compressor",
            Nothing(),
            "compressor is a Nothing with neither invoke(text) nor _run(text); give one that has either",
        ),
        ("call_timeout", 0, "call_timeout is 0; give seconds above 0, or leave it out for no bound"),
        ("retry_policy", "policy.yaml", "retry_policy is 'policy.yaml'; give a RetryPolicy"),
        ("checkpointer", "memory", "checkpointer is 'memory'; give "),
        ("hooks", print, "hooks is <built-in function print>; give "),
    ]:
        with subtests.test(argument=argument, given=given):
            with pytest.raises(ConfigurationError) as raised:
                build(**{argument: given})

            assert str(raised.value).startswith(sentence)


def test_an_agent_that_cannot_be_called_as_its_role_is_refused(subtests):
    for argument, given, sentence in [
        (
            "planner",
            SimpleNamespace(generate_plan=lambda *, task: [task]),
            "generate_plan() cannot be called as generate_plan(task): ",
        ),
        *(
            (
                "executor",
                SimpleNamespace(execute_step=execute_step),
                "execute_step() cannot be called as execute_step(step, context=...): ",
            )
            for execute_step in (lambda *, step, context: step, lambda step: step)
        ),
        (
            "executor",
            SimpleNamespace(execute_step=FakeExecutor().execute_step, synthesize=lambda: ""),
            "synthesize() cannot be called as synthesize(task, results): ",
        ),
        (
            "compressor",
            SimpleNamespace(invoke=lambda text: text, compress=lambda text: text),
            "compress() cannot be called as compress(text, task=...): ",
        ),
    ]:
        with subtests.test(argument=argument, given=given, sentence=sentence):
            with pytest.raises(ConfigurationError) as raised:
                build(**{argument: given})

            assert str(raised.value).startswith(f"{argument} is a {type(given).__name__} whose {sentence}")
            assert str(raised.value).endswith("; give it these parameters")


def test_a_task_that_is_none_is_refused_before_anything_runs(subtests):
    for task in ["", " \n\t", None, 3, b"task", ["task"]]:
        for method in ["run", "stream"]:
            with subtests.test(task=task, method=method):
                planner, hook = FakePlanner(), RecordingHook()
                with pytest.raises(ConfigurationError) as raised:
                    getattr(build(planner=planner, hooks=[hook]), method)(task)

                assert f"task is {task!r}; give a text that says what to do, in UTF-8" in str(raised.value)
                assert (planner.tasks, hook.events) == ([], [])
