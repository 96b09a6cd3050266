"""Showing events as they come."""

import logging
import re
from io import StringIO

from rich.console import Console

from orchestrator.cli.view.consoles import print_logs_on
from orchestrator.cli.view.live import format_totals
from orchestrator.cli.view.progress import Watch, show_progress
from tests.orchestrator.cli.builders import executed, finished, judged, planned, run_started, step_started

_CONTROL = re.compile(r"\r|\x1b\[[0-9;?]*[A-Za-z]")
EVENTS = (run_started(), planned("step 1"), step_started(), executed(), judged(), finished())


def terminal():
    return Console(file=StringIO(), width=60, height=20, force_terminal=True, color_system=None)


def shown(*, live):
    console = terminal()
    with show_progress(console, live=live) as show:
        for event in EVENTS:
            show(event)
    return console.file.getvalue()


def test_a_live_view_ends_with_the_final_frame():
    words = _CONTROL.sub("", shown(live=True))
    lines = [line.rstrip() for line in words.splitlines() if line]

    assert "✓ 1. step 1" in lines[-3]
    assert lines[-2] == "step 1, attempt 1 accepted: good"
    assert lines[-1].startswith("success: 1 of 1 step, 40 tokens")


def test_the_time_of_a_view_starts_with_the_view_and_not_with_the_machine():
    watch = Watch(clock=lambda: 5000.0)

    assert format_totals(watch.view, watch.clock()) == "0.0 s"


def test_lines_are_one_for_each_event():
    assert len(shown(live=False).splitlines()) == len(EVENTS)


def test_log_records_are_printed_above_the_view_as_text():
    console = terminal()
    with print_logs_on(console), show_progress(console, live=True) as show:
        show(EVENTS[0])
        logging.getLogger("agents.somewhere").warning("[red]%s[/red]\x1b[31m", "said")
        logging.getLogger("agents.somewhere").info("unsaid")

    written = console.file.getvalue()
    assert "warning (agents.somewhere): [red]said[/red][31m" in written
    assert "unsaid" not in written


def test_log_records_go_elsewhere_again_afterwards():
    console = terminal()
    with print_logs_on(console):
        pass
    logging.getLogger("agents.somewhere").error("late")

    assert console.file.getvalue() == ""
