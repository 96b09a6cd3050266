"""A question on a console."""

from orchestrator.cli.run_drawings import draw_question
from tests.orchestrator.cli.builders import drawn, question


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
