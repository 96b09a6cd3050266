"""Asks a person at a terminal for an answer, and reads an answer from the options of ``resume``."""

from __future__ import annotations

import getpass
import sys
from collections.abc import Mapping
from typing import TypeAlias

from rich.console import Console

from orchestrator.cli.process_exit import raise_on_ctrl_c
from orchestrator.cli.view.questions import draw_question
from orchestrator.errors import ConfigurationError
from orchestrator.state.records import Question

Answer: TypeAlias = Mapping[str, str]


def is_terminal() -> bool:
    """Returns whether a person can read and type: standard input and standard error are a terminal."""
    # Questions go to standard error, because standard output may be redirected to a file.
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stderr))


def ask(console: Console, question: Question) -> Answer | None:
    """Asks until there is an answer; returns None if the input ends or Ctrl-C comes first."""
    _drop_typed_ahead()
    console.print(draw_question(question))
    try:
        with raise_on_ctrl_c():
            return _read_typed_answer(console, question)
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


def _read_typed_answer(console: Console, question: Question) -> Answer:
    """Reads an answer.

    Raises:
        EOFError: The input ends before.
    """
    words = {word[0]: word for word in question["accepts"]}
    choices = ", ".join(f"{letter} = {word}" for letter, word in words.items())
    typed = ""
    while typed not in (*words, *words.values()):
        typed = console.input(f"{choices} (Ctrl-C: answer later): ", markup=False).strip().lower()
    word, text = words.get(typed, typed), ""
    if word == "approve":
        return build_answer(word)
    is_result = word == "correct" and question["kind"] == "tool"
    correction = "What is the result of the call? " if is_result else "What should be done differently? "
    while not text:
        text = console.input(correction if word == "correct" else "Why? ").strip()
    return build_answer(word, text)


def _drop_typed_ahead() -> None:
    """Drops input typed before the question appeared, which could approve an output by accident."""
    if sys.platform != "win32" and sys.stdin.isatty():
        import termios  # noqa: PLC0415 - only exists there

        termios.tcflush(sys.stdin, termios.TCIFLUSH)
