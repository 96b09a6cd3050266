"""Measures a verifier on the user's own tasks: ``orchestrator doctor --verifier``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import typer
from rich.text import Text

from agents import ModelRefusedError, ModelUnavailableError
from evaluation.judges.trust.claim_figures import VerifierFigures, count_needed_claims
from evaluation.judges.trust.claim_files import save_figures
from orchestrator.cli.session.bad_input import report_bad_input
from orchestrator.cli.session.judge_measurement import format_rate, show_progress
from orchestrator.cli.statuses import FAILED
from orchestrator.cli.view.consoles import build_console, print_logs_on
from orchestrator.cli.view.json_documents import print_json
from orchestrator.cli.view.terminal_text import clean, count_noun
from orchestrator.state.records import VerifierName


def report_verifier(verifier: VerifierName, tasks: str, model: str, max_wrong: float, *, json: bool) -> None:
    """Measures a verifier, prints the figures, keeps them, and exits.

    Args:
        verifier: The verifier.
        tasks: A file of tasks with known answers.
        model: The model specification.
        max_wrong: The bound on the share of wrong claims.
        json: Print one JSON document.

    Raises:
        typer.Exit: The bound was not shown, or the input is not accepted.
    """
    # Only here, because Optuna takes its time.
    from orchestrator.cli.session.verifier_study import measure_verifier, read_answered_tasks  # noqa: PLC0415

    progress = build_console(stderr=True)
    with print_logs_on(progress), report_bad_input(ModelUnavailableError, ModelRefusedError, OSError):
        cases = read_answered_tasks(tasks, max_wrong)
        said = f"Running {count_noun(len(cases), 'task')}."
        with show_progress(progress, said, len(cases)) as advance:
            figures = measure_verifier(model, verifier, cases, max_wrong, advance)
        file = save_figures(figures)
    if json:
        print_json(_to_plain(figures, file))
    else:
        build_console().print(Text(clean("\n".join([*_list_figures(figures, verifier), f"Kept in {file}"]))))
    if figures.threshold is None:
        raise typer.Exit(FAILED)


def _to_plain(figures: VerifierFigures, file: Path) -> dict[str, object]:
    return {
        "verifier": figures.verifier,
        "tasks": figures.tasks,
        "max_wrong": figures.max_wrong,
        "threshold": figures.threshold,
        "precision": asdict(figures.precision),
        "coverage": asdict(figures.coverage),
        "counts": [asdict(count) for count in figures.counts],
        "file": str(file),
    }


def _list_figures(figures: VerifierFigures, verifier: VerifierName) -> Iterator[str]:
    yield f"Verifier: {figures.verifier}"
    for count in figures.counts:
        total = count.right + count.wrong
        yield f"  {count.share:.0%} approve: {count_noun(total, 'answer')}, {count.right} right"
    right = figures.precision
    if figures.threshold is None:
        needed = count_needed_claims(figures.max_wrong)
        yield f"Not shown: that at most {figures.max_wrong:.0%} of its claims are wrong."
        yield f"Of the answers with the most approvals, {right.successes} of {right.trials} are right."
        yield f"{needed} of {needed} would be enough. A run with this verifier claims nothing."
        return
    yield f"A run claims an answer from {figures.threshold:.0%} of approvals on: `run --verifier {verifier}`."
    yield f"Precision: {right.successes} of {right.trials} claims are right, {format_rate(right)}."
    covered = figures.coverage
    yield f"Coverage: {covered.successes} of {count_noun(covered.trials, 'task')}, {format_rate(covered)}."
