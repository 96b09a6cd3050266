"""Resuming a run that waits for a person or was cut off."""

from __future__ import annotations

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from orchestrator import ResumeError, SupervisionPolicy
from orchestrator.events import RunFinished, RunResumed
from tests.fakes.supervision import (
    SpeakingExecutor,
)
from tests.orchestrator.supervision.supervised_runs import (
    APPROVE,
    build_human,
    start_human,
)


def test_resume_without_an_answer_gives_the_waiting_run_back():
    executor = SpeakingExecutor()
    orchestrator, before = start_human(executor)

    assert orchestrator.resume("thread") == before
    assert len(executor.calls) == 1


def test_a_thread_that_is_not_there_cannot_be_resumed(subtests):
    for give in [None, APPROVE]:
        with (
            subtests.test(give=give),
            pytest.raises(ResumeError, match="thread 'other' is not in this store"),
        ):
            build_human().resume("other", give)


def test_a_waiting_run_cannot_be_resumed_where_nobody_can_be_asked():
    saver = InMemorySaver()
    _, before = start_human(checkpointer=saver)
    nobody = SupervisionPolicy(human=False)
    other = build_human(supervision="none", supervision_policy=nobody, checkpointer=saver)
    with pytest.raises(ResumeError, match="resume it with the supervision, the retry_policy"):
        other.resume("thread", APPROVE)

    assert before["status"] == "executing"


def test_the_events_of_a_resumed_run_begin_with_what_it_goes_on_from():
    orchestrator, before = start_human(plan=["one"])
    events = list(orchestrator.stream_resumed("thread", APPROVE))

    assert isinstance(events[0], RunResumed)
    assert events[0].state == before
    assert isinstance(events[-1], RunFinished)
    assert events[-1].state["status"] == "success"
