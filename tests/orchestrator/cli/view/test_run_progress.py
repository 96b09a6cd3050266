"""Events as lines."""

import logging
from io import StringIO

from rich.console import Console

from orchestrator.cli.consoles import print_logs_on
from orchestrator.cli.run_drawings import describe_event
from tests.orchestrator.cli.builders import (
    answered,
    executed,
    failure,
    finished,
    judged,
    paused,
    planned,
    question,
    replanned,
    resumed,
    retried,
    run_started,
    step_started,
    tool_ended,
    tool_started,
    usage,
)


def test_every_event_is_one_line(subtests):
    for event, said in [
        (run_started("a\ntask"), "task: a task"),
        (planned("a", "b", "c", spent=usage(7)), "plan of 3 steps (7 tokens, 1.0 s)"),
        (planned("a", spent=usage(None)), "plan of 1 step (tokens unknown, 1.0 s)"),
        (step_started(1, 2), "step 2 of 2, attempt 2: step 2"),
        (tool_ended(1, "look_up"), "step 2: the tool look_up answered"),
        (tool_ended(None, "look_up"), "the planner: the tool look_up answered"),
        (tool_ended(1, "look_up", error="no\nnetwork"), "step 2: the tool look_up failed: no network"),
        (judged(feedback="fine"), "step 1 of 2, attempt 1 accepted (20 tokens, 2.0 s): fine"),
        (judged(status="failed", feedback="bad"), "step 1 of 2, attempt 1 refused (20 tokens, 2.0 s): bad"),
        (
            judged(status="needs_review", feedback="?", judge_usage=None),
            "step 1 of 2, attempt 1 not judged (no model call, 0.0 s): ?",
        ),
        (
            judged(status="warning", feedback="bad", warnings=["slow", "long\ntext"]),
            "step 1 of 2, attempt 1 kept with a warning (20 tokens, 2.0 s): bad; slow; long text",
        ),
        (
            judged(supervision=answered("approve")),
            "step 1 of 2, attempt 1 accepted (20 tokens, 2.0 s): ada says approve",
        ),
        (resumed(task="a\ntask"), "task, resumed: a task"),
        (replanned("a", "b", spent=usage(7)), "planned again, 4 steps, 1 given up (7 tokens, 1.0 s so far)"),
        (
            paused(question(1, 2, text="Is it\ngood?")),
            "step 2 of 2, attempt 2 waits for an answer: Is it good?",
        ),
        (finished(warnings=["a"]), "success (0 of 2 steps, 40 tokens, 4.0 s, 1 warning)"),
        (finished(warnings=["a", "b"]), "success (0 of 2 steps, 40 tokens, 4.0 s, 2 warnings)"),
        (finished(replaced=[1]), "success (0 of 1 step, 40 tokens, 4.0 s)"),
        (finished(), "success (0 of 2 steps, 40 tokens, 4.0 s)"),
        (
            finished("failed", failure=failure("timeout", "too\nlong")),
            "failed: timeout: too long (0 of 2 steps, 40 tokens, 4.0 s)",
        ),
    ]:
        with subtests.test(event=event):
            assert describe_event(event, 2).plain == said


def test_the_step_after_the_last_is_the_final_answer():
    assert describe_event(step_started(2), 2).plain == "final answer, attempt 1: step 3"


def test_an_event_that_the_next_one_explains_has_no_line(subtests):
    for event in (executed(), tool_started(0, "look_up"), retried()):
        with subtests.test(event=event):
            assert describe_event(event, 2) is None


def terminal(*, live):
    file = StringIO()
    file.isatty = lambda: live
    return Console(file=file, width=60, height=20, force_terminal=live, color_system=None)


def test_log_records_are_printed_as_text_inside_the_block():
    console = terminal(live=True)
    with print_logs_on(console), console.status("working"):
        console.print(describe_event(run_started(), 0))
        logging.getLogger("agents.somewhere").warning("[red]%s[/red]\x1b[31m", "said")
        logging.getLogger("agents.somewhere").info("unsaid")
    logging.getLogger("agents.somewhere").error("late")

    written = console.file.getvalue()
    assert "warning (agents.somewhere): [red]said[/red][31m" in written
    assert "unsaid" not in written
    assert "late" not in written
