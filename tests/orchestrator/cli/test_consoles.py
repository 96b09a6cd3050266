"""Texts, questions and events on a console."""

import logging
import unicodedata
from io import StringIO

from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from orchestrator.cli.consoles import clean, format_usage, one_line, print_logs_on
from orchestrator.cli.run_drawings import describe_event, draw_question
from orchestrator.state.records import NO_USAGE
from tests.fakes.records import usage
from tests.orchestrator.cli.builders import (
    answered,
    drawn,
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
)


def test_nothing_but_text_newline_and_tab_is_left(subtests):
    for text, shown in [
        ("plain\n\ttext", "plain\n\ttext"),
        ("\x1b[31mred\x1b[0m", "[31mred[0m"),
        ("\x1b]0;title\x07after", "]0;titleafter"),
        ("over\rwritten\r\n", "overwritten\n"),
        ("back\x08space\x7f\x00", "backspace"),
        ("\u202edesrever\u2066", "desrever"),
        ("zero\u200bwidth\u2060 \ufeffspace", "zerowidth space"),
        ("left\u200eright\u200f\u061cmarks", "leftrightmarks"),
        ("tags\U000e0049\U000e0047", "tags"),
        ("می\u200cخواهم", "می\u200cخواهم"),
        ("👩🏽\u200d💻 ❤️\u200d🔥", "👩🏽\u200d💻 ❤️\u200d🔥"),
        ("\u0600١٢", "\u0600١٢"),
        ("half \ud800 pair", "half \ufffd pair"),
        ("[bold]:wave:[/bold]", "[bold]:wave:[/bold]"),
    ]:
        with subtests.test(text=text):
            assert clean(text) == shown


@given(st.text(alphabet=st.characters()))
def test_no_control_character_or_surrogate_survives_whatever_the_text(text):
    left = clean(text)

    assert {character for character in left if unicodedata.category(character) in ("Cc", "Cs")} <= {
        "\n",
        "\t",
    }


def test_one_line_has_no_break_and_keeps_its_limit(subtests):
    for text, shown in [(" two\n li\x85 ", "two li"), ("12345678", "12345678"), ("123456789", "1234567…")]:
        with subtests.test(text=text):
            assert one_line(text, limit=8) == shown


def test_usage_that_was_not_reported_is_called_missing_and_never_zero(subtests):
    for used, words in [
        (usage(12, 3.46), "12 tokens, 3.5 s"),
        (usage(0), "0 tokens, 1.0 s"),
        (usage(None), "tokens unknown, 1.0 s"),
        (NO_USAGE, "no model call, 0.0 s"),
    ]:
        with subtests.test(used=used):
            assert format_usage(used) == words


# A question on a console


def shown(width=40, **changes):
    return [line.rstrip() for line in drawn(draw_question(question(**changes)), width).splitlines()]


def test_a_question_is_shown_with_its_step_its_output_and_what_was_found():
    assert shown(1000, attempt=2, output="one\n\ntwo\n", findings=["too short", "no\ntitle"]) == [
        "Step 1, attempt 2, waits for an answer",
        "│ step 1",
        "Question:",
        "│ Do you accept it?",
        "Output:",
        "│ one",
        "│",
        "│ two",
        "Findings:",
        "│ - too short",
        "│ - no title",
    ]


def test_no_line_leaves_the_margin_when_it_is_broken():
    lines = shown(20, output="word " * 20 + "x" * 50)

    assert all(line.startswith("│ ") and len(line) <= 20 for line in lines[lines.index("Output:") + 1 :])


def test_markup_and_terminal_commands_are_shown_as_text(subtests):
    for part in ["step", "text", "output", "problem"]:
        with subtests.test(part=part):
            said = "\n".join(shown(200, **{part: "[red]x[/] :wave:\x1b[2J\x9b31m\u202e"}))

            assert "[red]x[/] :wave:[2J31m" in said
            assert not set(said) & {"\x1b", "\x9b", "\u202e"}


def test_the_tool_calls_of_a_question_are_shown_with_all_their_arguments():
    call = {"name": "send", "args": {"to": "Bob\nEve"}, "result": None, "error": None, "latency_ms": None}
    denied = {**call, "args": {"x": "y" * 300}, "error": "no\nline", "gate": "denied"}
    lines = shown(1000, output="", tool_calls=[call, denied])

    assert lines[lines.index("Tool calls:") + 1 :] == [
        '│ send {"to": "Bob\\nEve"}',
        f'│ send {{"x": "{"y" * 300}"}}, denied, failed: no line',
    ]


# Events as lines


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
