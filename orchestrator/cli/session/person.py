"""Asks a person at a terminal for an answer, and reads an answer from the options of ``resume``."""

from __future__ import annotations

import getpass
import sys
from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from rich.console import Console
from rich.text import Text

from orchestrator.cli.session.process_signals import raise_on_ctrl_c
from orchestrator.cli.view.questions import draw_question
from orchestrator.errors import ConfigurationError
from orchestrator.state.records import Question

Answer: TypeAlias = Mapping[str, str]
_REASON: Final = "Why? "
_RESULT: Final = "What is the result of the call? "
_CORRECTION: Final = "What should be done differently? "


def is_terminal() -> bool:
    """Returns whether a person can read and type: standard input and standard error are a terminal."""
    # Questions go to standard error, because standard output may be redirected to a file.
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stderr))


def ask(console: Console, question: Question, read: Callable[[], str] | None = None) -> Answer | None:
    """Asks until there is an answer.

    Args:
        console: Shows the question.
        question: The question.
        read: Returns the next line, "" at the end of the input; None for standard input.

    Returns:
        The answer; None if the input ends or Ctrl-C comes first.
    """
    if read is None:
        _drop_typed_ahead()
    console.print(draw_question(question))
    try:
        with raise_on_ctrl_c():
            return _read_typed_answer(console, question, read or sys.stdin.readline)
    except (KeyboardInterrupt, EOFError):
        console.print()
        return None


def build_answer(word: str, text: str = "") -> Answer:
    """Builds an answer with the name of the user."""
    try:
        user = getpass.getuser()
    except (KeyError, ImportError, OSError):  # a user without a name, as in a container
        user = "a person"
    answer = {"answer": word, "answered_by": user}
    return {**answer, "text": text} if text else answer


def read_answer(*, approve: bool, **texts: str | None) -> Answer | None:
    """Builds the answer to a question from the options; None without one.

    Args:
        approve: Whether ``--approve`` was given.
        texts: The texts of ``--correct``, ``--deny`` and ``--halt``.

    Raises:
        ConfigurationError: There are several, or a text is blank.
    """
    words = {name: text for name, text in texts.items() if text is not None}
    if approve + len(words) > 1:
        raise ConfigurationError(
            "--approve, --correct, --deny and --halt contradict each other; "
            "give one of them, or none after a crash"
        )
    for name, text in words.items():
        if not text.strip():
            raise ConfigurationError(f"--{name} is {text!r}; give a text that says what to do, or why")
        return build_answer(name, text)
    return build_answer("approve") if approve else None


def _read_typed_answer(console: Console, question: Question, read: Callable[[], str]) -> Answer:
    """Reads an answer.

    Raises:
        EOFError: The input ends before.
    """
    letters = {word[0]: word for word in question["accepts"]}
    choices = ", ".join(f"{letter} = {word}" for letter, word in letters.items())
    word = ""
    while word not in letters.values():
        line = _read_line(console, f"{choices} (Ctrl-C: answer later): ", read).lower()
        word = letters.get(line, line)
    if word == "approve":
        return build_answer(word)
    correction = _RESULT if question["kind"] == "tool" else _CORRECTION
    prompt = correction if word == "correct" else _REASON
    return build_answer(word, _read_line(console, prompt, read))


def _read_line(console: Console, prompt: str, read: Callable[[], str]) -> str:
    """Reads a line that is not blank."""
    while True:
        console.print(Text(prompt, style="bold"), end="")
        line = read()
        if not line:
            raise EOFError
        if line.strip():
            return line.strip()


def _drop_typed_ahead() -> None:
    """Drops input typed before the question appeared, which could approve an output by accident."""
    if sys.platform != "win32":
        import termios  # noqa: PLC0415 - only exists there

        termios.tcflush(sys.stdin, termios.TCIFLUSH)
