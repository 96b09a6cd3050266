"""Draws a question to a person, and the command that answers it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from shlex import quote
from typing import Final

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.text import Text

from evaluation.sensitive.quoting import shorten
from orchestrator.cli.view.records import name_failure
from orchestrator.cli.view.text import clean, one_line
from orchestrator.persistence.store import default_path
from orchestrator.runs.index import format_resume_call
from orchestrator.state.records import Question, ToolCallRecord

_OUTPUT_CHARACTERS: Final = 4000
_MARGIN: Final = "│ "
_ANSWERS: Final = {
    "approve": "--approve",
    "correct": "--correct TEXT",
    "deny": "--deny REASON",
    "halt": "--halt REASON",
}


def format_resume_command(thread_id: str, store: str, tools: Sequence[str] = ()) -> str:
    """Return the command that resumes a run of a store with its tools."""
    named = chain.from_iterable(("--tools", name) for name in tools)
    return _join_words("resume", thread_id, *_name_store(store), *named)


def format_delete_command(thread_id: str, store: str) -> str:
    """Return the command that deletes a run of a store."""
    return _join_words("delete", thread_id, *_name_store(store))


def format_show_command(thread_id: str, store: str) -> str:
    """Return the command that prints a run of a store."""
    return _join_words("show", thread_id, *_name_store(store))


def _name_store(store: str) -> tuple[str, ...]:
    return () if store == str(default_path()) else ("--db", store)


def _join_words(*words: str) -> str:
    return " ".join(quote(clean(word)) for word in ("orchestrator", *words))


def format_answer_command(question: Question, thread_id: str, store: str, tools: Sequence[str] = ()) -> str:
    """Return the command that answers a question, with the accepted answers."""
    answers = [option for answer, option in _ANSWERS.items() if answer in question["accepts"]]
    command = format_resume_command(thread_id, store, tools)
    return f"{command} {' | '.join(answers)}" if answers else command


def describe_python_resume(question: Question | None, thread_id: str) -> str:
    """Return what continues a run that was started in Python, whose agents no command can know."""
    verb = "continue" if question is None else "answer"
    return _describe_call(verb, format_resume_call(clean(thread_id), question))


def describe_python_fork(thread_id: str, step_index: int) -> str:
    """Return what forks a run that was started in Python."""
    return _describe_call("fork", f"fork({clean(thread_id)!r}, {step_index})")


def _describe_call(verb: str, call: str) -> str:
    return f"{verb} it in Python, with its agents: orchestrator.{call}"


def draw_question(question: Question) -> RenderableType:
    """Draw a question: its step, the tool calls, the output, the findings and the deadline."""
    return Group(*_draw_parts(question))


def _draw_parts(question: Question) -> Iterator[RenderableType]:
    step, attempt = question["step_index"] + 1, question["attempt"]
    yield Text(f"Step {step}, attempt {attempt}, waits for an answer", style="bold yellow")
    yield _Quotation(Text(one_line(question["step"])))
    if question["problem"] is not None:
        yield Text(f"The previous answer was not accepted: {one_line(question['problem'])}", style="red")
    yield Text("Question:", style="bold")
    yield _Quotation(Text(one_line(question["text"], 2000)))
    if calls := question.get("tool_calls"):
        yield Text("Tool call:" if len(calls) == 1 else "Tool calls:", style="bold")
        yield from (_Quotation(_shorten_output(_format_call(call))) for call in calls)
    if question["output"]:
        yield Text("Output:", style="bold")
        yield _Quotation(_shorten_output(question["output"]))
    if question["findings"]:
        yield Text("Findings:", style="bold")
        yield from (_Quotation(Text(f"- {one_line(finding)}")) for finding in question["findings"])
    if question["deadline"] is not None:
        deadline = one_line(question["deadline"])
        yield Text(f"After {deadline} the answer is {one_line(question['on_deadline'])}.", style="bold")


def _format_call(call: ToolCallRecord) -> str:
    """Format a call as one line: its tool, its arguments and the answer, if there is one."""
    args = json.dumps(call["args"], ensure_ascii=False)
    answer = call["result"] if call["error"] is None else f"{name_failure(call)}: {call['error']}"
    return f"{call['name']} {args}" if answer is None else f"{call['name']} {args}: {one_line(answer, 200)}"


def _shorten_output(output: str) -> Text:
    text = clean(output).strip("\n")
    shown, hidden = Text(shorten(text, _OUTPUT_CHARACTERS)), len(text) - _OUTPUT_CHARACTERS
    return shown if hidden <= 0 else shown.append(f"\n({hidden} more characters; --json prints them)")


@dataclass(frozen=True, slots=True)
class _Quotation:
    """A text with a margin on every line, so that a model cannot imitate our own words."""

    text: Text

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        lines = (
            self.text.split("\n", allow_blank=True)
            if options.no_wrap
            else self.text.wrap(console, max(1, options.max_width - len(_MARGIN)))
        )
        for line in lines:
            yield Text.assemble((_MARGIN, "dim"), line)
