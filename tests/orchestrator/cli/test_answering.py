"""Asking a person at a terminal."""

import getpass
from io import StringIO

import pytest
from rich.console import Console

from orchestrator.cli.session.person import ask, is_terminal
from tests.orchestrator.cli.builders import question

ME = getpass.getuser()


def typed(*lines, **changes):
    """What comes of lines that are typed, and what was shown."""
    console = Console(file=StringIO(), width=60, force_terminal=True, color_system=None, soft_wrap=False)
    waiting = iter(lines)
    answer = ask(console, question(**changes), lambda: next(waiting, ""))
    return answer, console.file.getvalue()


@pytest.mark.parametrize(
    ("lines", "answer"),
    [
        (["a\n"], {"answer": "approve", "answered_by": ME}),
        (["A\n"], {"answer": "approve", "answered_by": ME}),
        (["approve\n"], {"answer": "approve", "answered_by": ME}),
        (["c\n", " shorter \n"], {"answer": "correct", "answered_by": ME, "text": "shorter"}),
        (["d\n", "no good\n"], {"answer": "deny", "answered_by": ME, "text": "no good"}),
        (["yes\n", "\n", "d\n", "\n", "  \n", "no\n"], {"answer": "deny", "answered_by": ME, "text": "no"}),
        ([], None),
        (["c\n"], None),
    ],
)
def test_what_is_typed_is_an_answer_once_it_is_one(lines, answer):
    assert typed(*lines)[0] == answer


def test_a_correction_of_a_tool_call_is_its_result():
    answer, shown = typed("c\n", "receipt 7\n", kind="tool", accepts=["approve", "correct", "deny", "halt"])

    assert (answer["answer"], answer["text"]) == ("correct", "receipt 7")
    assert "What is the result of the call? " in shown


def test_an_answer_that_is_not_accepted_is_asked_again():
    answer, shown = typed("c\n", "a\n", accepts=["approve", "deny"])

    assert answer["answer"] == "approve"
    assert shown.count("a = approve, d = deny (Ctrl-C: answer later): ") == 2


def test_without_a_terminal_nobody_can_be_asked():
    assert not is_terminal()
