"""Draws the live view of a run. Texts from models are never read as markup."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.table import Table
from rich.text import Text

from orchestrator.cli.view.model import StepPhase, StepView, View
from orchestrator.cli.view.records import VERDICTS, last_word
from orchestrator.cli.view.text import count_noun, format_usage, one_line
from orchestrator.state.records import StepRecord

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
_TEXT_STYLES: Final[Mapping[StepPhase, str]] = {"waiting": "dim", "given_up": "dim strike"}
_PHASE_NAMES: Final[Mapping[StepPhase, str]] = {
    "judging": "judging",
    "asking": "waiting for an answer",
    "warning": VERDICTS["warning"][0],
    "given_up": "given up",
}
_REASON_CHARACTERS: Final = 300
_TASK_LINES: Final = 2
_REASON_LINES: Final = 3
_CHECK_LINES: Final = 3
_OTHER_LINES: Final = _TASK_LINES + _CHECK_LINES + _REASON_LINES + 5
"""Lines of a frame that are not steps: task, checks, verdict, two ellipses and three lines of totals."""


def draw_frame(view: View, now: float, rows: int = 40) -> RenderableType:
    """Draw a view in the width of the console.

    Args:
        view: The view.
        now: The current time, by the clock of the view.
        rows: Height of the terminal. Of a longer plan, the part around the current step is drawn.
    """
    return Group(*_draw_parts(view, now, max(3, rows - _OTHER_LINES)))


def _draw_parts(view: View, now: float, visible_steps: int) -> Iterator[RenderableType]:
    yield _Shortened(Text(f"Task: {one_line(view.task, 200)}", style="bold"), _TASK_LINES)
    if view.requirements:
        yield _Shortened(Text("\n".join(view.requirements), style="dim"), _CHECK_LINES)
    if view.steps:
        yield _draw_checklist(view, now, visible_steps)
    if view.judged is not None:
        yield _Shortened(_draw_verdict(view.judged), _REASON_LINES)
    yield _draw_totals(view, now)


@dataclass(frozen=True, slots=True)
class _Shortened:
    """A text of at most ``lines`` lines: a higher frame would push its end off the terminal."""

    text: Text
    lines: int

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        wrapped = self.text.wrap(console, options.max_width)
        *shown, last = wrapped[: self.lines]
        if len(wrapped) > self.lines:
            last.append("…")
            last.truncate(options.max_width, overflow="ellipsis")
        yield from (*shown, last)


def _draw_checklist(view: View, now: float, visible_steps: int) -> Table:
    table = Table.grid(padding=(0, 1), expand=True)
    table.add_column(no_wrap=True, min_width=1)
    table.add_column(no_wrap=True, overflow="ellipsis", ratio=1)
    table.add_column(no_wrap=True, justify="right", overflow="ellipsis")
    for row in _draw_rows(view, now, visible_steps):
        table.add_row(*row)
    return table


def _draw_rows(view: View, now: float, visible_steps: int) -> Iterator[tuple[Text, Text, Text]]:
    first = _first_visible_step(view, visible_steps)
    last = first + visible_steps
    if first:
        yield _draw_ellipsis(first)
    for index, step in enumerate(view.steps[first:last], start=first):
        yield _draw_step(index, step, now - step.since if step.is_busy else 0.0)
    if last < len(view.steps):
        yield _draw_ellipsis(len(view.steps) - last)


def _first_visible_step(view: View, visible_steps: int) -> int:
    """Return where to start so that the current step is a third from the top."""
    started = [index for index, step in enumerate(view.steps) if step.attempt]
    busy = [index for index in started if view.steps[index].is_busy]
    current = (busy[0] if busy else started[-1]) if started else 0
    return max(0, min(current - visible_steps // 3, len(view.steps) - visible_steps))


def _draw_ellipsis(count: int) -> tuple[Text, Text, Text]:
    return Text("⋮", style="dim"), Text(f"{count} more", style="dim"), Text()


def _draw_step(index: int, step: StepView, running_s: float) -> tuple[Text, Text, Text]:
    mark, style = _MARKS[step.phase]
    text = Text(f"{index + 1}. {one_line(step.text)}", style=_TEXT_STYLES.get(step.phase, ""))
    return Text(mark, style=style), text, Text(_format_details(step, running_s), style="dim")


def _format_details(step: StepView, running_s: float) -> str:
    details = [f"attempt {step.attempt}"] if step.attempt > 1 else []
    if step.phase in _PHASE_NAMES:
        details.append(_PHASE_NAMES[step.phase])
    if step.attempt:
        usage = step.usage
        seconds = usage["latency_ms"] / 1000 + running_s
        is_first_call = step.is_busy and not usage["model_calls"]
        details.append(f"{seconds:.1f} s" if is_first_call else format_usage(usage, seconds))
    return ", ".join(details)


def _draw_verdict(record: StepRecord) -> Text:
    word, style = VERDICTS[record["status"]]
    head = f"step {record['step_index'] + 1}, attempt {record['attempt']} {word}: "
    return Text.assemble((head, style), one_line(last_word(record), _REASON_CHARACTERS))


def _draw_totals(view: View, now: float) -> Text:
    pause = "interrupted" if view.is_interrupted else "waiting for an answer"
    status = pause if view.is_interrupted or view.question is not None else view.status
    style = {"success": "green", "failed": "red"}.get(view.status, "cyan")
    basis = f": {view.basis}," if view.basis else ":"
    totals = format_totals(view, view.since if view.is_over else now)
    return Text.assemble((status, style), f"{basis} {totals}")


def format_totals(view: View, now: float) -> str:
    """Format the number of accepted steps, the usage and the number of warnings."""
    totals = [f"{view.steps_done} of {count_noun(view.steps_planned, 'step')}"] if view.steps else []
    usage, seconds = view.usage, now - view.started
    # A call is counted when it ends, and an interrupted one never.
    is_first_call = view.status in ("planning", "executing") and not usage["model_calls"]
    totals.append(f"{seconds:.1f} s" if is_first_call else format_usage(usage, seconds))
    if view.warnings:
        totals.append(count_noun(view.warnings, "warning"))
    return ", ".join(totals)
