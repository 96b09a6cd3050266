"""A view as something Rich can draw; every text in it is text, never markup."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.table import Table
from rich.text import Text

from orchestrator.cli.view.model import StepPhase, StepView, View, Word
from orchestrator.cli.view.text import one_line, spent, steps, warnings
from orchestrator.state.graph_state import RecordStatus

_MARKS: Final[Mapping[StepPhase, tuple[str, str]]] = {
    "waiting": ("·", "dim"),
    "running": ("▸", "cyan"),
    "judging": ("▸", "cyan"),
    "asking": ("?", "bold yellow"),
    "validated": ("✓", "green"),
    "failed": ("✗", "red"),
    "needs_review": ("?", "yellow"),
    "warning": ("!", "yellow"),
    "given_up": ("–", "dim"),
}
_TEXTS: Final[Mapping[StepPhase, str]] = {"waiting": "dim", "given_up": "dim strike"}
VERDICTS: Final[Mapping[RecordStatus, tuple[str, str]]] = {
    "validated": ("accepted", "green"),
    "failed": ("refused", "yellow"),
    "needs_review": ("not judged", "yellow"),
    "pending_validation": ("pending", "dim"),
    "warning": ("kept with a warning", "yellow"),
}
_DOING: Final[Mapping[StepPhase, str]] = {
    "judging": "judging",
    "asking": "waiting for an answer",
    "warning": "kept with a warning",
    "given_up": "given up",
}
_FEEDBACK_CHARACTERS: Final = 300
_TASK_LINES: Final = 2
_FEEDBACK_LINES: Final = 3
_OTHER_LINES: Final = _TASK_LINES + _FEEDBACK_LINES + 5
"""Rows of a frame that are not steps: besides these, two ellipses and the totals on up to three."""
_WIDE: Final = 60
"""Columns from which on a step has room for its text and for what it used."""


def render(view: View, now: float, rows: int = 40) -> RenderableType:
    """Draw a view, as wide as there is room.

    Args:
        view: What to draw.
        now: The moment, by the clock that the view was folded with.
        rows: How many lines there is room for; of a longer plan the part around its present is drawn.
    """
    return _Frame(view, now, max(3, rows - _OTHER_LINES))


@dataclass(frozen=True, slots=True)
class _Frame:
    view: View
    now: float
    room: int

    def __rich_console__(self, _console: Console, options: ConsoleOptions) -> RenderResult:
        wide = options.max_width >= _WIDE
        yield _AtMost(Text(f"Task: {one_line(self.view.task, 200)}", style="bold"), _TASK_LINES)
        if self.view.steps:
            yield _checklist(self.view, self.now, self.room, wide=wide)
        if self.view.word is not None:
            yield _AtMost(_word(self.view.word), _FEEDBACK_LINES)
        yield _totals(self.view, self.now, wide=wide)


@dataclass(frozen=True, slots=True)
class _AtMost:
    """A text of so many lines, so that none below it is pushed off the terminal."""

    text: Text
    lines: int

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        wrapped = self.text.wrap(console, options.max_width)
        *shown, last = wrapped[: self.lines]
        if len(wrapped) > self.lines:
            last.append("…")
            last.truncate(options.max_width, overflow="ellipsis")
        yield from (*shown, last)


def _checklist(view: View, now: float, room: int, *, wide: bool) -> Table:
    table = Table.grid(padding=(0, 1), expand=True)
    table.add_column(no_wrap=True, min_width=1)
    table.add_column(no_wrap=True, overflow="ellipsis", ratio=1)
    if wide:
        table.add_column(no_wrap=True, justify="right", overflow="ellipsis")
    for row in _rows(view, now, room):
        table.add_row(*(row if wide else row[:2]))
    return table


def _rows(view: View, now: float, room: int) -> Iterator[tuple[Text, Text, Text]]:
    first = _first_shown(view, room)
    last = first + room
    if first:
        yield _ellipsis(first)
    for at, step in enumerate(view.steps[first:last], start=first):
        yield _row(at, step, now - step.since if step.busy else 0.0)
    if last < len(view.steps):
        yield _ellipsis(len(view.steps) - last)


def _first_shown(view: View, room: int) -> int:
    """Keep the present a third from the top; of steps that run at once, the first."""
    started = [at for at, step in enumerate(view.steps) if step.attempt]
    busy = [at for at in started if view.steps[at].busy]
    present = (busy[0] if busy else started[-1]) if started else 0
    return max(0, min(present - room // 3, len(view.steps) - room))


def _ellipsis(count: int) -> tuple[Text, Text, Text]:
    return Text("⋮", style="dim"), Text(f"{count} more", style="dim"), Text()


def _row(at: int, step: StepView, running_s: float) -> tuple[Text, Text, Text]:
    mark, style = _MARKS[step.phase]
    text = Text(f"{at + 1}. {one_line(step.text)}", style=_TEXTS.get(step.phase, ""))
    return Text(mark, style=style), text, Text(_detail(step, running_s), style="dim")


def _detail(step: StepView, running_s: float) -> str:
    parts = [f"attempt {step.attempt}"] if step.attempt > 1 else []
    if step.phase in _DOING:
        parts.append(_DOING[step.phase])
    if step.attempt:
        parts.append(_used(step, running_s))
    return ", ".join(parts)


def _used(step: StepView, running_s: float) -> str:
    usage = step.usage
    seconds = usage["latency_ms"] / 1000 + running_s
    return spent(usage, seconds) if usage["model_calls"] or not step.busy else f"{seconds:.1f} s"


def _word(word: Word) -> Text:
    verdict, style = VERDICTS[word.status]
    head = f"step {word.step_index + 1}, attempt {word.attempt} {verdict}: "
    return Text.assemble((head, style), one_line(word.feedback, _FEEDBACK_CHARACTERS))


def _totals(view: View, now: float, *, wide: bool) -> Text:
    seconds = (view.since if view.over else now) - view.started
    done = (f"{view.done} of {steps(view.wanted)}",) if view.steps else ()
    warned = (warnings(view.warnings),) if view.warnings and wide else ()
    style = {"success": "green", "failed": "red"}.get(view.status, "cyan")
    said = (", " if wide else "\n").join((*done, spent(view.usage, seconds), *warned))
    return Text.assemble((_status(view), style), f": {said}")


def _status(view: View) -> str:
    return view.status if view.question is None else "waiting for an answer"
