"""What is not accepted is refused in one sentence, before anything runs."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from orchestrator import ConfigurationError, LangGraphOrchestrator
from tests.fakes.executor import FakeExecutor
from tests.fakes.hook import RecordingHook
from tests.fakes.monitor import FakeMonitor, accept
from tests.fakes.planner import FakePlanner


class Nothing:
    """Has none of the methods."""


class NotCallable:
    generate_plan = execute_step = evaluate = "text"


def build(**changed):
    agents = {"planner": FakePlanner(), "executor": FakeExecutor(), "monitor": FakeMonitor()}
    return LangGraphOrchestrator(**{**agents, **changed})


def test_the_constructor_names_the_argument_what_was_given_and_what_is_accepted(subtests):
    for argument, given, sentence in [
        ("planner", Nothing(), "planner (Nothing) has no method generate_plan(); give an object that has it"),
        (
            "planner",
            NotCallable(),
            "planner (NotCallable) has no method generate_plan(); give an object that has it",
        ),
        ("monitor", Nothing(), "monitor (Nothing) has no method evaluate(); give an object that has it"),
        (
            "compressor",
            Nothing(),
            "compressor is a Nothing with neither invoke(text) nor _run(text); give one that has either",
        ),
        ("max_retries", -1, "max_retries is -1; give a whole number of at least 0"),
        ("call_timeout", 0, "call_timeout is 0; give seconds above 0, or leave it out for no bound"),
        ("retry_policy", "policy.yaml", "retry_policy is 'policy.yaml'; give a RetryPolicy"),
        ("budget", {"max_seconds": 5}, "budget is {'max_seconds': 5}; give a Budget"),
        ("supervision_policy", {"human": True}, "supervision_policy is {'human': True}; give a Supervision"),
        ("checkpointer", "memory", "checkpointer is 'memory'; give "),
        ("hooks", print, "hooks is <built-in function print>; give "),
    ]:
        with subtests.test(argument=argument, given=given):
            with pytest.raises(ConfigurationError) as raised:
                build(**{argument: given})

            assert str(raised.value).startswith(sentence)


class KeywordTwin(FakeMonitor):
    async def aevaluate(self, *, objective, result):
        return accept()


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
            SimpleNamespace(
                execute_step=FakeExecutor().execute_step, correct_step=lambda *, step, output, feedback: step
            ),
            "correct_step() cannot be called as correct_step(step, output, feedback, context=...): ",
        ),
        ("monitor", KeywordTwin(), "aevaluate() cannot be called as aevaluate(objective, result): "),
        (
            "compressor",
            SimpleNamespace(invoke=lambda *, text: text),
            "invoke() cannot be called as invoke(text): ",
        ),
        (
            "compressor",
            SimpleNamespace(invoke=lambda text: text, compress=lambda text: text),
            "compress() cannot be called as compress(text, task): ",
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

                assert str(raised.value) == f"task is {task!r}; give a text that says what to do"
                assert (planner.tasks, hook.events) == ([], [])


def test_a_task_with_nul_or_a_surrogate_is_refused(subtests):
    for task in ["a\0b", "a\ud800b"]:
        with subtests.test(task=task):
            with pytest.raises(ConfigurationError) as raised:
                build().run(task)

            assert str(raised.value) == f"task is {task!r}; give a text in UTF-8, without NUL and surrogates"
