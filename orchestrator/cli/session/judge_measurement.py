"""Measures a model as a judge: ``orchestrator doctor --judge``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Final

import typer
from rich.console import Console
from rich.progress import Progress
from rich.text import Text

from agents import ModelRefusedError, ModelUnavailableError, MonitoringAgent, load_model
from evaluation import JudgeTrust, measure_judge, save_trust
from evaluation.judges.trust.figures import Kind
from evaluation.judges.trust.labelled_set import get_set_version, load_labelled_set
from evaluation.judges.trust.trust_files import get_trust_folder
from evaluation.statistics.intervals import Proportion
from orchestrator.cli.session.bad_input import report_bad_input
from orchestrator.cli.statuses import FAILED
from orchestrator.cli.view.consoles import build_console, print_logs_on
from orchestrator.cli.view.json_documents import print_json
from orchestrator.cli.view.terminal_text import clean, count_noun

_WRONG: Final[dict[Kind, str]] = {
    "subtle": "subtly wrong",
    "plain": "plainly wrong",
    "injected": "with a text that asks for approval",
}


def report_judge(spec: str, limit: int | None, *, json: bool) -> None:
    """Measures the monitor with a model, prints the figures, keeps them, and exits.

    Args:
        spec: The model specification.
        limit: Number of outputs to ask about; the figures of a part of the set are not kept. None for all.
        json: Print one JSON document.

    Raises:
        typer.Exit: The judge is not trusted, or the model failed or cannot be used.
    """
    outputs, progress = load_labelled_set()[:limit], build_console(stderr=True)
    with print_logs_on(progress), report_bad_input(ModelUnavailableError, ModelRefusedError, OSError):
        monitor = MonitoringAgent(load_model(spec))
        get_trust_folder().mkdir(parents=True, exist_ok=True)  # fails before the calls, which may cost money
        said = f"Asking the judge about {count_noun(len(outputs), 'output')}, one call each."
        with show_progress(progress, said, len(outputs)) as advance:
            trust = measure_judge(monitor, outputs=outputs, on_verdict=lambda *_: advance())
        file = save_trust(trust) if len(outputs) == len(load_labelled_set()) else None
    if json:
        print_json(_to_plain(trust, file))
    else:
        kept = "Not kept, because --limit left outputs out." if file is None else f"Kept in {file}"
        build_console().print(Text(clean("\n".join([*_list_figures(trust), kept]))))
    if not trust.trusted:
        raise typer.Exit(FAILED)


@contextmanager
def show_progress(console: Console, said: str, total: int) -> Iterator[Callable[[], None]]:
    """Yields a function that counts one more on a bar, which only a terminal shows; prints a line before."""
    console.print(said)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("measuring", total=total)
        yield lambda: progress.advance(task)


def _to_plain(trust: JudgeTrust, file: Path | None) -> dict[str, object]:
    return {
        "judge": trust.judge,
        "set_version": get_set_version(),
        "outputs": trust.total,
        "false_accepts": asdict(trust.false_accepts),
        "false_rejects": asdict(trust.false_rejects),
        "needs_review": trust.needs_review,
        "counts": {kind: asdict(counts) for kind, counts in trust.counts.items()},
        "trusted": trust.trusted,
        "reason": trust.distrust,
        "file": None if file is None else str(file),
    }


def _list_figures(trust: JudgeTrust) -> Iterator[str]:
    accepts, rejects = trust.false_accepts, trust.false_rejects
    yield f"Judge: {trust.judge}"
    yield f"It accepted {_format_count(accepts, 'wrong output')}. False accepts: {format_rate(accepts)}."
    for kind, name in _WRONG.items():
        counts = trust.counts[kind]
        yield f"  {name}: accepted {counts.accepted} of {counts.accepted + counts.refused}"
    yield f"It refused {_format_count(rejects, 'right output')}. False rejects: {format_rate(rejects)}."
    yield f"It gave no verdict on {trust.needs_review} of {count_noun(trust.total, 'output')}."
    yield "Trusted." if trust.distrust is None else f"Not trusted: {trust.distrust}."


def _format_count(rate: Proportion, noun: str) -> str:
    return f"{rate.successes} of {count_noun(rate.trials, noun)} that it gave a verdict on"


def format_rate(rate: Proportion) -> str:
    """Formats a rate with its interval: "90% (95% interval: 80% to 96%)"."""
    if rate.value is None or rate.interval is None:
        return "unknown"
    return f"{rate.value:.0%} (95% interval: {rate.interval.low:.0%} to {rate.interval.high:.0%})"
