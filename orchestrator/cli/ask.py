"""Asks a person at a terminal."""

from __future__ import annotations

import getpass
import sys
from collections.abc import Callable, Mapping
from typing import Final

from rich.console import Console
from rich.text import Text

from orchestrator.cli.interruption import line_or_signal
from orchestrator.cli.view.question import question_block
from orchestrator.state.graph_state import Question

Answer = Mapping[str, str]
_LETTERS: Final = {"a": "approve", "c": "correct", "d": "deny"}
_TEXTS: Final = {"correct": "What is to be done otherwise? ", "deny": "Why? "}


def can_ask() -> bool:
    """Whether a person is at the other end: what they type and what they see is a terminal."""
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stderr))


def ask(console: Console, question: Question, read: Callable[[], str] | None = None) -> Answer | None:
    """Ask until there is an answer.

    Args:
        console: Where the question is put.
        question: What is asked.
        read: Gives the next line; "" at the end of the input. None for standard input.

    Returns:
        The answer; None where the input ended before.
    """
    lines = _typed_from_now_on() if read is None else read
    console.print(question_block(question))
    word = _word(console, question, lines)
    if word is None or word == "approve":
        return None if word is None else given(word)
    text = _line(console, _TEXTS[word], lines)
    return None if text is None else given(word, text)


def given(word: str, text: str = "") -> Answer:
    """An answer, with who gave it where that is known."""
    answer = {"answer": word, "answered_by": _who()}
    return {**answer, "text": text} if text else answer


def _who() -> str:
    try:
        return getpass.getuser()
    except (KeyError, ImportError, OSError):  # a user without a name, as in a container
        return "a person"


def _word(console: Console, question: Question, read: Callable[[], str]) -> str | None:
    accepted = {letter: word for letter, word in _LETTERS.items() if word in question["accepts"]}
    offered = ", ".join(f"{letter} = {word}" for letter, word in accepted.items())
    while (typed := _line(console, f"{offered} (Ctrl-C: answer later): ", read)) is not None:
        word = accepted.get(typed.lower(), typed.lower())
        if word in accepted.values():
            return word
    return None


def _line(console: Console, prompt: str, read: Callable[[], str]) -> str | None:
    """What is typed after a prompt, asked for until there is something; None at the end of the input."""
    while True:
        console.print(Text(prompt, style="bold"), end="")
        try:
            typed = read()
        except UnicodeDecodeError:
            console.print(Text("That is no text."))
            continue
        if not typed:
            console.print()
            return None
        if typed.strip():
            return typed.strip()


def _typed_from_now_on() -> Callable[[], str]:
    """Read standard input without what was typed before there was a question."""
    if sys.platform == "win32":
        return sys.stdin.readline
    import termios  # noqa: PLC0415 - there only

    termios.tcflush(sys.stdin, termios.TCIFLUSH)
    return line_or_signal
