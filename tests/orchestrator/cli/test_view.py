"""From events to what a watcher sees."""

import pytest

from orchestrator.cli.view import StepView, View, Word
from tests.orchestrator.cli.made import (
    executed,
    failure,
    finished,
    folded,
    judged,
    planned,
    record,
    retried,
    run_started,
    step_started,
    usage,
)

PLANNED = (run_started(), planned(spent=usage(5)))
RUNNING = (*PLANNED, step_started())
JUDGING = (*RUNNING, executed())
REFUSED = (*JUDGING, judged(status="failed", feedback="too short"))


def test_a_run_that_began_has_its_task_and_its_start():
    assert folded(run_started("a task")) == View(task="a task", started=100.0, since=100.0)


@pytest.mark.parametrize(
    ("events", "phase"),
    [
        (PLANNED, "waiting"),
        (RUNNING, "running"),
        (JUDGING, "judging"),
        ((*RUNNING, executed(status="failed", error="broken")), "failed"),
        ((*JUDGING, judged()), "validated"),
        (REFUSED, "failed"),
        ((*REFUSED, retried()), "failed"),
        ((*REFUSED, retried(), step_started(attempt=2)), "running"),
        ((*JUDGING, judged(status="needs_review")), "needs_review"),
        ((*JUDGING, judged(status="pending_validation")), "judging"),
        ((*RUNNING, finished("failed")), "failed"),
        ((*JUDGING, finished("failed")), "failed"),
    ],
)
def test_a_step_is_in_the_phase_that_the_events_say(events, phase):
    assert folded(*events).steps[0].phase == phase


def test_only_the_step_of_an_event_changes():
    assert folded(*REFUSED).steps[1] == StepView("step 2")


def test_a_step_counts_its_attempts():
    assert folded(*REFUSED, retried(), step_started(attempt=2)).steps[0].attempt == 2


def test_a_step_adds_up_what_its_executions_and_their_judging_used():
    events = (*REFUSED, step_started(attempt=2), executed(attempt=2), judged(attempt=2))

    assert folded(*events).steps[0].usage["total_tokens"] == 10 + 20 + 10 + 20


def test_a_run_adds_up_what_the_plan_and_the_steps_used():
    assert folded(*REFUSED).usage["total_tokens"] == 5 + 10 + 20


def test_tokens_that_one_call_misses_are_missing_in_the_sum():
    assert folded(*RUNNING, executed(usage=usage(None))).usage["total_tokens"] is None


def test_a_judge_without_usage_adds_none():
    assert folded(*JUDGING, judged(judge_usage=None)).usage["total_tokens"] == 5 + 10


def test_the_latest_verdict_is_kept_with_its_feedback():
    assert folded(*REFUSED, retried(), step_started(attempt=2)).word == Word(0, 1, "failed", "too short")


def test_a_finished_run_has_the_status_and_the_usage_of_its_state():
    view = folded(*JUDGING, judged(), finished("failed", failure=failure(), results=[record()]))

    assert (view.status, view.over, view.usage["total_tokens"]) == ("failed", True, 40)


def test_validated_steps_are_counted():
    assert folded(*JUDGING, judged()).validated == 1


def test_the_view_knows_when_the_latest_event_came():
    assert folded(*RUNNING).since == 102.0
