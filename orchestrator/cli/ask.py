"""Asks a person at a terminal for an answer."""

from __future__ import annotations

import getpass
import sys
from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from rich.console import Console
from rich.text import Text

from orchestrator.cli.arguments.parameters import Answers
from orchestrator.cli.process.interruption import raise_on_ctrl_c
from orchestrator.cli.view.question import draw_question
from orchestrator.errors import ConfigurationError
from orchestrator.state.records import Question

Answer: TypeAlias = Mapping[str, str]
_LETTERS: Final = {"a": "approve", "c": "correct", "d": "deny", "h": "halt"}
_PROMPTS: Final = {"correct": "What should be done differently? ", "deny": "Why? ", "halt": "Why? "}
_CALL_PROMPTS: Final = {**_PROMPTS, "correct": "What is the result of the call? "}


def is_terminal() -> bool:
    """Return whether a person can read and type: standard input and standard error are a terminal."""
    # Questions go to standard error, because standard output may be redirected to a file.
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stderr))


def ask(console: Console, question: Question, read: Callable[[], str] | None = None) -> Answer | None:
    """Ask until there is an answer.

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
            answer = _read_answer(console, question, read or sys.stdin.readline)
    except KeyboardInterrupt:
        answer = None
    if answer is None:
        console.print()
    return answer


def build_answer(word: str, text: str = "") -> Answer:
    """Build an answer with the name of the user."""
    answer = {"answer": word, "answered_by": _read_user_name()}
    return {**answer, "text": text} if text else answer


def read_answer(options: Answers) -> Answer | None:
    """Build the answer to a question from the options; None without one.

    Raises:
        ConfigurationError: There are several, or a text is blank.
    """
    given = {"correct": options.correct, "deny": options.deny, "halt": options.halt}
    texts = {name: text for name, text in given.items() if text is not None}
    if options.approve + len(texts) > 1:
        raise ConfigurationError(
            "--approve, --correct, --deny and --halt contradict each other; "
            "give one of them, or none after a crash"
        )
    for name, text in texts.items():
        if not text.strip():
            raise ConfigurationError(f"--{name} is {text!r}; give a text that says what to do, or why")
        return build_answer(name, text)
    return build_answer("approve") if options.approve else None


def _read_user_name() -> str:
    try:
        return getpass.getuser()
    except (KeyError, ImportError, OSError):  # a user without a name, as in a container
        return "a person"


def _read_answer(console: Console, question: Question, read: Callable[[], str]) -> Answer | None:
    word = _read_word(console, question, read)
    if word is None or word == "approve":
        return None if word is None else build_answer(word)
    prompts = _CALL_PROMPTS if question["kind"] == "tool" else _PROMPTS
    text = _read_line(console, prompts[word], read)
    return None if text is None else build_answer(word, text)


def _read_word(console: Console, question: Question, read: Callable[[], str]) -> str | None:
    accepted = {letter: word for letter, word in _LETTERS.items() if word in question["accepts"]}
    choices = ", ".join(f"{letter} = {word}" for letter, word in accepted.items())
    while (line := _read_line(console, f"{choices} (Ctrl-C: answer later): ", read)) is not None:
        word = accepted.get(line.lower(), line.lower())
        if word in accepted.values():
            return word
    return None


def _read_line(console: Console, prompt: str, read: Callable[[], str]) -> str | None:
    """Read a line that is not blank; None at the end of the input."""
    while True:
        console.print(Text(prompt, style="bold"), end="")
        line = read()
        if not line:
            return None
        if line.strip():
            return line.strip()


def _drop_typed_ahead() -> None:
    """Drop input typed before the question appeared, which could approve an output by accident."""
    if sys.platform != "win32":
        import termios  # noqa: PLC0415 - only exists there

        termios.tcflush(sys.stdin, termios.TCIFLUSH)
