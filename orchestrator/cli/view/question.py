"""A question to a person on a console: models wrote most of it, so their words stand behind a margin."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from shlex import quote
from typing import Final

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.text import Text

from orchestrator.cli.view.text import clean, one_line
from orchestrator.persistence.store import default_path
from orchestrator.state.graph_state import Question


def resume_command(thread_id: str, where: str) -> str:
    """What is typed to go on with a run."""
    elsewhere = "" if where == str(default_path()) else f" --db {_quoted(where)}"
    return f"orchestrator resume {_quoted(thread_id)}{elsewhere}"


def _quoted(text: str) -> str:
    """A word for a shell; with what cannot be seen as bash and zsh read it."""
    if clean(text) == text and text.isprintable():
        return quote(text)
    escaped = text.encode("unicode_escape").decode().replace("'", "\\'")
    return f"$'{escaped}'"


_OUTPUT_CHARACTERS: Final = 4000
_MARGIN: Final = "│ "
_FORMS: Final = {"approve": "--approve", "correct": "--correct TEXT", "deny": "--deny REASON"}


def question_block(question: Question) -> RenderableType:
    """Draw what is asked: about which step, its output, what was found, until when."""
    return Group(*_parts(question))


def _parts(question: Question) -> Iterator[RenderableType]:
    step, attempt = question["step_index"] + 1, question["attempt"]
    yield Text(f"Step {step}, attempt {attempt}, waits for an answer", style="bold yellow")
    yield _Quoted(Text(one_line(question["step"])))
    if question["problem"] is not None:
        yield Text(f"The answer before was not taken: {one_line(question['problem'])}", style="red")
    yield Text("Question:", style="bold")
    yield _Quoted(Text(one_line(question["text"], 2000)))
    if question["output"]:
        yield Text("Output:", style="bold")
        yield _Quoted(_output(question["output"]))
    if question["findings"]:
        yield Text("Found:", style="bold")
        yield from (_Quoted(Text(f"- {one_line(finding)}")) for finding in question["findings"])
    if question["deadline"] is not None:
        end = one_line(question["deadline"])
        yield Text(f"After {end} the answer is {one_line(question['on_deadline'])}.", style="bold")


def _output(output: str) -> Text:
    shown = Text(clean(output[:_OUTPUT_CHARACTERS]).strip("\n"))
    more = len(output) - _OUTPUT_CHARACTERS
    return shown if more <= 0 else shown.append(f"…\n({more} more characters, which --json prints)")


def how_to_answer(question: Question, thread_id: str, where: str) -> str:
    """The command lines that answer a question, on one line."""
    forms = [_FORMS[answer] for answer in _FORMS if answer in question["accepts"]]
    command = resume_command(thread_id, where)
    return f"{command} {' | '.join(forms)}" if forms else command


@dataclass(frozen=True, slots=True)
class _Quoted:
    """A text behind a margin, which none of its lines can leave."""

    text: Text

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        lines = (
            self.text.split("\n", allow_blank=True)
            if options.no_wrap
            else self.text.wrap(console, max(1, options.max_width - len(_MARGIN)))
        )
        for line in lines:
            yield Text.assemble((_MARGIN, "dim"), line)
