"""Draws a question to a person, and the command that continues a run."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from shlex import quote
from typing import Final

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult, group
from rich.text import Text

from evaluation.values import as_list
from orchestrator.cli.view.record_lines import format_call_end
from orchestrator.cli.view.terminal_text import clean, one_line
from orchestrator.persistence import Store
from orchestrator.persistence.store import default_path
from orchestrator.runs.index import format_resume_call
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
