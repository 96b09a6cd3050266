"""The live view's frames."""

import pytest

from orchestrator.cli.view.live import draw_frame
from tests.orchestrator.cli.builders import (
    drawn,
    executed,
    finished,
    folded,
    judged,
    paused,
    planned,
    replanned,
    retried,
    run_started,
    step_started,
    usage,
)

RUNNING = (
    run_started("Write a haiku"),
    planned("Choose a theme", "Write it", spent=usage(5)),
    step_started(),
)
DONE = (*RUNNING, executed(), judged(feedback="a good theme"))


def frame(*events, now=None, rows=40, width=60, color=False):
    view = folded(*events)
    return drawn(draw_frame(view, view.since if now is None else now, rows), width, color=color)


def lines(*events, **options):
    return [line.rstrip() for line in frame(*events, **options).splitlines()]


def test_before_there_is_a_plan_the_task_and_the_time_are_shown():
    assert lines(run_started("Write a haiku"), now=103.0) == [
        "Task: Write a haiku",
        "planning: 3.0 s",
    ]


def test_a_frame_is_a_checklist_with_the_verdict_and_the_totals():
    assert lines(*DONE, step_started(1), now=106.5) == [
        "Task: Write a haiku",
        "✓ 1. Choose a theme                         30 tokens, 3.0 s",
        "▸ 2. Write it                                          1.5 s",
        "step 1, attempt 1 accepted: a good theme",
        "executing: 1 of 2 steps, 35 tokens, 6.5 s",
    ]


def test_a_retried_step_shows_its_attempt_and_why_the_last_one_was_refused():
    refused = (*RUNNING, executed(), judged(status="failed", feedback="too short"), retried())

    shown = frame(*refused, step_started(attempt=2))

    assert "attempt 2, 30 tokens, 3.0 s" in shown
    assert "step 1, attempt 1 refused: too short" in shown


@pytest.mark.parametrize(
    ("events", "row"),
    [
        (RUNNING, "▸ 1. Choose a theme"),
        ((*RUNNING, executed()), "judging, 10 tokens"),
        ((*RUNNING, executed(usage=usage(None))), "judging, tokens unknown"),
        ((*RUNNING, executed(status="failed", error="broken")), "✗ 1. Choose a theme"),
        ((*RUNNING, executed(), judged(status="needs_review")), "? 1. Choose a theme"),
        (RUNNING, "· 2. Write it"),
        ((*RUNNING, executed(), judged(status="warning")), "! 1. Choose a theme"),
        ((*RUNNING, executed(), judged(status="warning")), "kept with a warning, 30 tokens"),
        ((*RUNNING, executed(), paused()), "? 1. Choose a theme"),
        ((*RUNNING, executed(), paused()), "waiting for an answer, 10 tokens"),
        ((*RUNNING, executed(), paused()), "waiting for an answer: 0 of 2 steps, 15 tokens, 4.0 s"),
        ((*DONE, replanned()), "– 2. Write it"),
        ((*DONE, replanned()), "given up"),
        ((*DONE, replanned()), "executing: 1 of 2 steps"),
        ((*DONE, finished(warnings=["a"])), "40 tokens, 5.0 s, 1 warning"),
        ((*DONE, finished()), "success: 1 of 2 steps, 40 tokens, 5.0 s"),
        ((*RUNNING, finished("failed")), "failed: 0 of 2 steps, 40 tokens, 3.0 s"),
    ],
)
def test_every_phase_has_its_words(events, row):
    assert row in frame(*events)


def test_the_clock_stands_still_when_the_run_is_over():
    assert frame(*DONE, finished(), now=105.0) == frame(*DONE, finished(), now=999.0)


@pytest.mark.parametrize("rows", [10, 14, 24])
def test_of_a_long_plan_the_part_around_its_present_is_drawn(rows):
    plan = planned(*(f"part {number}" for number in range(1, 101)))

    shown = lines(run_started(), plan, step_started(49), rows=rows)

    assert len(shown) < rows
    assert any("50. part 50" in line for line in shown)
    assert sum("more" in line for line in shown) == 2


def test_of_steps_that_run_at_once_each_shows_its_own_time():
    both = (run_started(), planned("one", "two"), step_started(0), step_started(1))

    assert [line.split()[-2] for line in lines(*both, now=110.0)[1:3]] == ["8.0", "7.0"]


def test_of_a_long_plan_the_first_step_that_is_under_way_is_drawn():
    plan = planned(*(f"part {number}" for number in range(1, 101)))

    shown = frame(run_started(), plan, step_started(10), step_started(90), rows=14)

    assert "11. part 11" in shown


@pytest.mark.parametrize("at", [0, 99])
def test_at_either_end_of_a_long_plan_one_part_is_hidden(at):
    plan = planned(*(f"part {number}" for number in range(1, 102)))

    shown = lines(run_started(), plan, step_started(at), rows=10)

    assert [line for line in shown if "more" in line] == ["⋮ 98 more"]


def test_a_long_step_is_cut_to_one_line():
    assert len(lines(run_started(), planned("word " * 100), step_started())) == 3


LONG = "word " * 100


@pytest.mark.parametrize("width", [20, 30, 59, 60, 80, 200])
@pytest.mark.parametrize("rows", [13, 24])
def test_no_text_is_so_long_that_the_totals_leave_the_terminal(width, rows):
    plan = planned(*(f"{number} {LONG}" for number in range(100)))

    shown = lines(
        *(run_started(LONG), plan, step_started(50), executed(50), judged(50, feedback=LONG)),
        width=width,
        rows=rows,
    )

    assert len(shown) <= rows
    assert "0 tokens" in " ".join(shown[-3:])
    assert all(len(line) <= width for line in shown)


@pytest.mark.parametrize("width", [1, 2, 5])
def test_a_terminal_of_hardly_any_width_breaks_nothing(width):
    assert lines(*DONE, width=width)


HOSTILE = "[bold red]x[/] [link=https://a.example]y[/link] :wave: \x1b[2J\x9b31m\x1b]0;t\x07\nnext"


@pytest.mark.parametrize(
    "events",
    [
        (run_started(HOSTILE),),
        (run_started(), planned(HOSTILE)),
        (*RUNNING, executed(), judged(feedback=HOSTILE)),
    ],
    ids=["task", "step", "feedback"],
)
def test_markup_and_terminal_commands_in_texts_are_shown_as_text(events):
    shown = frame(*events, width=200)

    assert "[bold red]x[/] [link=https://a.example]y[/link] :wave: [2J31m]0;t next" in shown
    assert not set(shown) & {"\x1b", "\x9b", "\x07"}


def test_hostile_text_takes_no_style_of_its_own():
    plain = frame(run_started("x"), color=True)
    hostile = frame(run_started("[red]x[/]"), color=True)

    assert hostile.replace("[red]x[/]", "x") == plain
