import logging
import re
import unicodedata
from io import StringIO

from hypothesis import given
from hypothesis import strategies as st
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from rich.console import Console

from agents import MonitoringAgent
from agents.testing import ScriptedChatModel
from evaluation import EvaluationContract
from orchestrator import RetryPolicy
from orchestrator.cli.consoles import clean, format_usage, one_line, print_logs_on
from orchestrator.cli.run_drawings import describe_event, draw_question
from orchestrator.events import RunStarted
from orchestrator.state.records import NO_USAGE
from tests.fakes.executor import FakeExecutor
from tests.fakes.monitor import FakeMonitor, accept, refuse
from tests.fakes.planner import FakePlanner
from tests.fakes.records import usage
from tests.fakes.runs import agent, build, call
from tests.fakes.supervision import SpeakingExecutor
from tests.orchestrator.cli.builders import drawn, question


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
    left = [each for each in clean(text) if unicodedata.category(each) in ("Cc", "Cs")]

    assert {*left} <= {"\n", "\t"}


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


APPROVED = {"answer": "approve", "answered_by": "ada"}
MILD = EvaluationContract(required_content=[{"text": "please", "severity": "warning"}, {"text": "done"}])


@tool
def look_up(word: str) -> str:
    """Look a word up."""
    if not word:
        raise ValueError("no\nnetwork")
    return word


def describe(*plans, steps=1, answer=None, **options):
    """The lines about a run, and about its resumption if it is answered; all times are 0.0 s."""
    orchestrator = build(planner=FakePlanner(*plans), checkpointer=InMemorySaver(), **options)
    followed = [*orchestrator.stream("a\ntask", "t")]
    followed += orchestrator.stream_resumed("t", answer) if answer else []
    lines = filter(None, (describe_event(event, steps) for event in followed))
    return [re.sub(r"\d+\.\d s", "0.0 s", line.plain) for line in lines]


NO, YES = '{"success": false, "feedback": "too\\nbad"}', '{"success": true, "feedback": "fine"}'


def test_the_events_of_a_run_are_one_line_each_unless_the_next_one_says_more():
    calls = call("look_up", word="sea"), call("look_up", word="")
    judge = MonitoringAgent(ScriptedChatModel([NO, YES], usage=(15, 5)))
    executor = agent(*calls, "hm", "sea", tools=[look_up], usage=(2, 3))

    assert describe(lambda task: [look_up.invoke(task)], executor=executor, monitor=judge) == [
        "task: a task",
        "the planner: the tool look_up answered",
        "plan of 1 step (no model call, 0.0 s)",
        "step 1 of 1, attempt 1: a task",
        "step 1: the tool look_up answered",
        "step 1: the tool look_up failed: ValueError: no network",
        "step 1 of 1, attempt 1 refused (20 tokens, 0.0 s): too bad",
        "step 1 of 1, attempt 2: a task",
        "step 1 of 1, attempt 2 accepted (20 tokens, 0.0 s)",
        "Done. Answer: not verified (the model's own word). (1 of 1 step, 60 tokens, 0.0 s)",
    ]


def test_the_ways_of_a_run_and_its_ends_are_told_in_one_line(subtests):
    twice = {"monitor": FakeMonitor(accept(), refuse("no"), accept()), "max_retries": 0}
    asking = {"executor": SpeakingExecutor(), "supervision": "human", "answer": APPROVED}
    one = [["one"]]
    for plans, options, told in [
        (one, {"monitor": FakeMonitor("?")}, ["attempt 1 not judged (no model call, 0.0 s): The monitor"]),
        (one, {"step_contract": MILD}, ['0.0 s): warning: Include "please"', "0.0 s, 1 warning)"]),
        (one, asking, ["1 waits for an answer: Do you accept", "task, resumed: a task", "ada says approve"]),
        (
            [["one", "two"], ["three"]],
            {**twice, "retry_policy": RetryPolicy(max_replans=1), "steps": 2},
            ["planned again, 3 steps, 1 given up (no", "final answer, attempt 1: three", "2 of 2 steps, no"],
        ),
        (
            one,
            {"executor": FakeExecutor(ValueError("too\nlong"))},
            ["failed: executor_error: step 1: ValueError: too long (0 of 1 step, no model call, 0.0 s)"],
        ),
    ]:
        with subtests.test(told=told):
            lines = describe(*plans, **options)

            assert [part for part in told if not any(part in line for line in lines)] == []
            assert not any("\n" in line for line in lines)


def terminal(*, live):
    file = StringIO()
    file.isatty = lambda: live
    return Console(file=file, width=60, height=20, force_terminal=live, color_system=None)


def test_log_records_are_printed_as_text_inside_the_block():
    console = terminal(live=True)
    with print_logs_on(console), console.status("working"):
        console.print(describe_event(RunStarted(thread_id="t", task="x"), 0))
        logging.getLogger("agents.somewhere").warning("[red]%s[/red]\x1b[31m", "said")
        logging.getLogger("agents.somewhere").info("unsaid")
    logging.getLogger("agents.somewhere").error("late")

    written = console.file.getvalue()
    assert "warning (agents.somewhere): [red]said[/red][31m" in written
    assert "unsaid" not in written
    assert "late" not in written
