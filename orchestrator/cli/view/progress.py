"""Shows a run while it goes: a live view on a terminal, lines elsewhere."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.live import Live
from rich.text import Text

from orchestrator.cli.view.folding import fold
from orchestrator.cli.view.lines import line
from orchestrator.cli.view.live import render
from orchestrator.cli.view.view import View
from orchestrator.runtime.events import Event

Clock = Callable[[], float]
Show = Callable[[Event], None]


class Watch:
    """Keeps the view of a run.

    Attributes:
        view: The present one; replaced, never changed, so that any thread may read it.
    """

    def __init__(self, clock: Clock = time.monotonic) -> None:
        """Begin with a blank view."""
        self.view = View()
        self.clock = clock

    def see(self, event: Event) -> None:
        """Fold an event in."""
        self.view = fold(self.view, event, self.clock())


@contextmanager
def progress(console: Console, *, live: bool) -> Iterator[Show]:
    """Give what shows an event.

    Args:
        console: Where to.
        live: Draw a view that follows the run, in place of lines.
    """
    watch = Watch()
    if not live:
        yield lambda event: _print_line(console, watch, event)
        return
    with Live(
        console=console,
        get_renderable=lambda: render(watch.view, watch.clock(), console.height),
        refresh_per_second=8,
    ):
        yield watch.see


def _print_line(console: Console, watch: Watch, event: Event) -> None:
    watch.see(event)
    console.print(Text(line(event, watch.view)))
