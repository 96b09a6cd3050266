"""From events to what a watcher sees."""

import pytest

from orchestrator.cli.view.model import StepView, View
from tests.orchestrator.cli.builders import (
    executed,
    failure,
    finished,
    folded,
    judged,
    paused,
    planned,
    question,
    record,
    replanned,
    resumed,
    retried,
    run_started,
    step_started,
    usage,
)

PLANNED = (run_started(), planned(spent=usage(5)))
RUNNING = (*PLANNED, step_started())
JUDGING = (*RUNNING, executed())
REFUSED = (*JUDGING, judged(status="failed", feedback="too short"))
BEST_KEPT = [record(status="warning"), record(attempt=2, status="failed")]


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
        ((*JUDGING, judged(status="warning")), "warning"),
        ((*JUDGING, paused()), "asking"),
        ((*JUDGING, paused(question(1))), "judging"),
        ((*JUDGING, paused(), resumed(results=[record()])), "judging"),
        ((*REFUSED, replanned(replaced=(0, 1))), "given_up"),
        ((*REFUSED, replanned(), finished(replaced=[0], results=[record(status="failed")])), "given_up"),
        ((resumed(results=[record(status="validated")]),), "validated"),
        ((resumed(results=[record(status="failed"), record(attempt=2)]),), "judging"),
        ((resumed(),), "waiting"),
        ((resumed(), finished(results=[record(status="validated")])), "validated"),
        (
            (resumed(), finished(results=[record(status="warning"), record(attempt=2, status="failed")])),
            "warning",
        ),
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
    view = folded(*REFUSED, retried(), step_started(attempt=2))

    assert (view.judged["attempt"], view.judged["verdict"]["feedback"]) == (1, "too short")


def test_a_finished_run_has_the_status_and_the_usage_of_its_state():
    view = folded(*JUDGING, judged(), finished("failed", failure=failure(), results=[record()]))

    assert (view.status, view.is_over, view.usage["total_tokens"]) == ("failed", True, 40)


def test_steps_that_stand_are_counted():
    assert folded(*JUDGING, judged()).steps_done == 1


def test_the_view_knows_when_the_latest_event_came():
    assert folded(*RUNNING).since == 102.0


def test_a_run_that_goes_on_is_seen_as_its_state_says():
    done = record(status="validated", judge_usage=usage(20), verdict={"success": True, "feedback": "good"})

    view = folded(resumed(task="a task", results=[done], warnings=["a", "b"]))

    assert (view.task, view.status, view.steps_done, view.warnings) == ("a task", "executing", 1, 2)
    assert (view.usage["total_tokens"], view.steps[0].usage["total_tokens"]) == (40, 30)
    assert view.judged == done


def test_what_an_execution_used_before_a_run_went_on_is_not_added_again():
    waiting, later = record(judge_usage=usage(20)), judged(judge_usage=usage(25, calls=2))

    assert folded(resumed(results=[waiting]), later).usage["total_tokens"] == 40 + 5


def test_an_execution_that_is_told_of_twice_is_counted_once():
    assert folded(*REFUSED, judged(status="warning")).steps[0].usage["total_tokens"] == 10 + 20


def test_a_run_that_waits_has_its_question_and_stands_still():
    view = folded(*JUDGING, paused(question(text="Well?")))

    assert (view.question["text"], view.is_over, view.status) == ("Well?", True, "executing")


def test_a_run_that_goes_on_has_no_question():
    assert folded(*JUDGING, paused(), resumed(question=question())).question is None


def test_new_steps_of_a_plan_stand_after_those_that_were_given_up():
    view = folded(*REFUSED, replanned("a", "b", spent=usage(99, calls=4)))

    assert [(step.text, step.phase) for step in view.steps[1:]] == [
        ("step 2", "given_up"),
        ("a", "waiting"),
        ("b", "waiting"),
    ]
    assert (view.steps_planned, view.usage["total_tokens"]) == (3, 99)


def test_steps_that_run_at_once_are_busy_each_since_its_own_start():
    steps = folded(*PLANNED, step_started(0), step_started(1)).steps

    assert [(step.is_busy, step.since) for step in steps] == [(True, 102.0), (True, 103.0)]


def test_warnings_are_counted_of_executions_that_stand():
    refused = judged(status="failed", warnings=["a"])

    assert folded(*JUDGING, refused, judged(attempt=2, warnings=["b", "c"])).warnings == 2


def test_a_step_that_is_kept_with_a_warning_stands():
    assert folded(*JUDGING, judged(status="warning")).steps_done == 1
