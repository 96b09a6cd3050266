"""Measures a model as a judge: ``orchestrator doctor --judge``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Final

import typer
from rich.console import Console
from rich.progress import Progress
from rich.text import Text

from agents import ModelRefusedError, ModelUnavailableError, MonitoringAgent, load_model
from evaluation import measure_judge, save_trust
from evaluation.judges.trust.figures import Verdict
from evaluation.judges.trust.labelled_set import LabelledOutput, load_labelled_set
from evaluation.judges.trust.store import get_trust_folder
from orchestrator.cli.process.exits import report_bad_input
from orchestrator.cli.process.statuses import FAILED
from orchestrator.cli.view.consoles import build_console, print_logs_on
from orchestrator.cli.view.text import clean, count_noun, one_line, to_json
from orchestrator.cli.view.trust import format_trust, trust_to_plain

_LINE_EVERY: Final = 10


def report_judge(spec: str, limit: int | None, *, json: bool) -> None:
    """Measure the monitor with a model, print the figures, keep them, and exit.

    Args:
        spec: The model specification.
        limit: Number of outputs to ask about; the figures of a part of the set are not kept. None for all.
        json: Print one JSON document.

    Raises:
        typer.Exit: The judge is not trusted, or the model failed or cannot be used.
    """
    outputs, progress = load_labelled_set()[:limit], build_console(stderr=True)
    with print_logs_on(progress), _report_failure():
        monitor = MonitoringAgent(load_model(spec))
        get_trust_folder().mkdir(parents=True, exist_ok=True)  # fails before the calls, which may cost money
        with _show_progress(progress, len(outputs)) as advance:
            trust = measure_judge(monitor, outputs=outputs, on_verdict=advance)
        file = save_trust(trust) if len(outputs) == len(load_labelled_set()) else None
    if json:
        typer.echo(to_json(trust_to_plain(trust, file)).encode())
    else:
        build_console().print(Text(clean(f"{format_trust(trust)}\n{_describe_file(file)}")))
    if not trust.trusted:
        raise typer.Exit(FAILED)


def _describe_file(file: Path | None) -> str:
    return "Not kept, because --limit left outputs out." if file is None else f"Kept in {file}"


@contextmanager
def _report_failure() -> Iterator[None]:
    """Turn an error of the model or of the file into one sentence and an exit status."""
    with report_bad_input():
        try:
            yield
        except (ModelUnavailableError, ModelRefusedError, OSError) as error:
            typer.echo(f"orchestrator: {one_line(str(error))}; nothing was kept", err=True)
            raise typer.Exit(FAILED) from None


@contextmanager
def _show_progress(console: Console, total: int) -> Iterator[Callable[[LabelledOutput, Verdict], None]]:
    """Yield a function that shows one more verdict: a bar on a terminal, a line for every tenth elsewhere."""
    console.print(f"Asking the judge about {count_noun(total, 'output')}, one call each.")
    numbers = count(1)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("measuring", total=total)

        def advance(_output: LabelledOutput, _verdict: Verdict) -> None:
            number = next(numbers)
            progress.advance(task)
            if not console.is_terminal and number % _LINE_EVERY == 0:
                console.print(f"{number} of {total}")

        yield advance
