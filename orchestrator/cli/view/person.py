"""Draws a question to a person, asks for the answer at a terminal, and writes the command that continues."""

from __future__ import annotations

import getpass
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from shlex import quote
from typing import Final, TypeAlias

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult, group
from rich.text import Text

from evaluation.values import as_list
from orchestrator.cli.process_exit import raise_on_ctrl_c
from orchestrator.cli.view.consoles import clean, one_line
from orchestrator.cli.view.record_lines import format_call_end
from orchestrator.errors import ConfigurationError
from orchestrator.persistence import Store
from orchestrator.persistence.store import default_path
from orchestrator.runs.run_saver import format_resume_call
from orchestrator.state.records import Question, ToolCallRecord

_MARGIN: Final = "│ "


def format_command(command: str, thread_id: str, store: str, tools: Sequence[str] = ()) -> str:
    """Returns a command about a run of a store, quoted for a shell."""
    where = () if store == str(default_path()) else ("--db", store)
    named = chain.from_iterable(("--tools", name) for name in tools)
    return " ".join(quote(clean(word)) for word in ("orchestrator", command, thread_id, *where, *named))


def format_resume(question: Question | None, thread_id: str, store: str, tools: Sequence[str] = ()) -> str:
    """Returns the command that resumes a run, with the accepted answers to its question."""
    accepted = () if question is None else question["accepts"]
    texts = {"approve": "", "correct": " TEXT"}
    answers = " | ".join(f"--{word}{texts.get(word, ' REASON')}" for word in accepted)
    return f"{format_command('resume', thread_id, store, tools)} {answers}".rstrip()


def describe_next(store: Store, thread_id: str) -> str:
    """Returns what continues a stored run: a command, or a call in Python, whose agents no command knows."""
    options, run = store.history.command(thread_id), store.history.find(thread_id)
    question = None if run is None else run.question
    if options is None:
        call = format_resume_call(clean(thread_id), question)
        return f"call orchestrator.{call} in Python, with its agents"
    # Printed only: the command that is typed decides which code runs.
    tools = [name for name in as_list(options.get("tools")) if isinstance(name, str)]
    return f"type: {format_resume(question, thread_id, store.where, tools)}"


@group()
def draw_question(question: Question) -> Iterator[RenderableType]:
    """Draws a question: its step, the tool calls, the output, the findings and the deadline."""
    step, attempt = question["step_index"] + 1, question["attempt"]
    yield Text(f"Step {step}, attempt {attempt}, waits for an answer", style="bold yellow")
    yield _Quotation(Text(one_line(question["step"])))
    if question["problem"] is not None:
        yield Text(f"The previous answer was not accepted: {one_line(question['problem'])}", style="red")
    calls = [Text(clean(_format_call(call))) for call in question.get("tool_calls") or ()]
    output = [Text(clean(question["output"]).strip("\n"))] if question["output"] else []
    findings = [Text(f"- {one_line(finding)}") for finding in question["findings"]]
    yield from _draw_part("Question", [Text(one_line(question["text"], 2000))])
    yield from _draw_part("Tool calls", calls)
    yield from _draw_part("Output", output)
    yield from _draw_part("Findings", findings)
    if question["deadline"] is not None:
        deadline = one_line(question["deadline"])
        yield Text(f"After {deadline} the answer is {one_line(question['on_deadline'])}.", style="bold")


def _draw_part(heading: str, texts: Sequence[Text]) -> Iterator[RenderableType]:
    if texts:
        yield Text(f"{heading}:", style="bold")
        yield from map(_Quotation, texts)


def _format_call(call: ToolCallRecord) -> str:
    """Formats a call with all of its arguments, because a person decides on them."""
    return f"{call['name']} {json.dumps(call['args'], ensure_ascii=False)}{format_call_end(call)}"


@dataclass(frozen=True, slots=True)
class _Quotation:
    """A text with a margin on every line, so that a model cannot imitate our own words."""

    text: Text

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        width = max(1, options.max_width - len(_MARGIN))
        for line in (
            self.text.split("\n", allow_blank=True) if options.no_wrap else self.text.wrap(console, width)
        ):
            yield Text.assemble((_MARGIN, "dim"), line)


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
