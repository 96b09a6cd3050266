"""What an executor is told on a retry."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from orchestrator import RetryPolicy
from tests.fakes.executor import CorrectingExecutor, ExecutorCall, FakeExecutor
from tests.fakes.monitor import FakeMonitor, accept, refuse
from tests.fakes.runs import run


def test_an_executor_with_correct_step_gets_objective_output_and_feedback_apart():
    executor = CorrectingExecutor("draft", "final")
    run(executor, FakeMonitor(refuse("no rhyme"), accept()), plan=["one"])

    assert executor.calls == [
        ExecutorCall("one", ""),
        ExecutorCall("one", "", previous_output="draft", feedback="no rhyme"),
    ]


def test_every_retry_is_told_of_the_output_just_before_it():
    executor = CorrectingExecutor("a", "b", "c")
    run(executor, FakeMonitor(refuse("1"), refuse("2"), accept()), plan=["one"])

    assert [(call.previous_output, call.feedback) for call in executor.calls] == [
        (None, None),
        ("a", "1"),
        ("b", "2"),
    ]


def test_the_next_step_is_told_nothing_of_an_earlier_ones_refusal():
    executor = CorrectingExecutor()
    run(executor, FakeMonitor(refuse("no rhyme"), accept()), plan=["one", "two"])

    assert executor.calls[2].feedback is None
    assert "no rhyme" not in executor.calls[2].context


@given(draft=st.text(min_size=1), feedback=st.text(min_size=1))
def test_neither_output_nor_feedback_can_leave_its_fence(draft, feedback):
    # Of two steps: a blank output of the last one has a feedback of our own.
    executor = FakeExecutor(draft, "final", "end")
    run(executor, FakeMonitor(refuse(feedback), accept(), accept()), plan=["one", "two"])

    context = executor.calls[1].context
    mark = context.split(" ", 1)[0]
    assert mark not in draft + feedback
    assert context == (
        f"{mark} your last output\n{draft}\n{mark} end of your last output\n\n"
        f"{mark} why it was refused; correct that\n{feedback}\n{mark} end of why it was refused; correct that"
    )


def test_without_feedback_a_retry_is_the_first_call_again(subtests):
    for kind in [CorrectingExecutor, FakeExecutor]:
        with subtests.test(kind=kind):
            executor = kind("draft", "final")
            policy = RetryPolicy(strategies=[{"use": "resample"}])
            run(executor, FakeMonitor(refuse("no rhyme"), accept()), plan=["one"], retry_policy=policy)

            assert executor.calls == [ExecutorCall("one", ""), ExecutorCall("one", "")]
