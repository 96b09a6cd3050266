"""Prints the figures of all arms as a table. It never prints a prompt or an output."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from benchmarks.effect.arms.base import Arm
from benchmarks.effect.figures import Figures, Mean, Rate, clustered_rate, compute_figures, strict_difference
from benchmarks.effect.records import Record

_COLUMNS: Final = (
    *("arm", "runs", "prompts", "claimed successes", "true ones", "precision of the claim"),
    *("recall of the claim", "strict success", "calls", "tokens", "seconds", "replies cut off"),
)
_BASELINE: Final = "blind-retries"


def format_report(records: Sequence[Record], arms: Sequence[Arm], missing: Sequence[Arm]) -> Iterator[str]:
    """Yield the lines of the report: the table, and below it what the table has no column for."""
    yield f"| {' | '.join(_COLUMNS)} |"
    yield f"|{'---|' * len(_COLUMNS)}"
    by_arm = {arm.name: [record for record in records if record.arm == arm.name] for arm in arms}
    for name, chosen in by_arm.items():
        if chosen:
            yield from _format_arm(name, chosen)
    for arm in missing:
        yield f"| {arm.name} | not installed: `uv run --with {arm.package} ...` {'| ' * (len(_COLUMNS) - 1)}"
    yield ""
    for name, chosen in by_arm.items():
        yield from _format_notes(name, chosen, by_arm.get(_BASELINE, []))


def _format_arm(name: str, records: Sequence[Record]) -> Iterator[str]:
    yield _format_row(name, compute_figures(records))
    bases = sorted({record.basis for record in records if record.claimed and record.basis is not None})
    for basis in bases:
        figures = compute_figures(records, basis)
        counts = f"{figures.runs} | {figures.prompts}"
        yield f"| {name}, basis {basis} | {counts} {_format_claims(figures)}| | | | | |"


def _format_row(name: str, figures: Figures) -> str:
    cells = (figures.calls, 1), (figures.tokens, 0), (figures.seconds, 1)
    means = " | ".join(format_mean(mean, digits) for mean, digits in cells)
    return (
        f"| {name} | {figures.runs} | {figures.prompts} {_format_claims(figures)}"
        f"| {format_rate(figures.strict)} | {means} | {format_rate(figures.cut)} |"
    )


def _format_claims(figures: Figures) -> str:
    if figures.claimed is None:
        return "| claims nothing | | | "
    return (
        f"| {format_rate(figures.claimed)} | {figures.precision.successes} "
        f"| {format_rate(figures.precision)} | {format_rate(figures.recall)} "
    )


def _format_notes(name: str, records: Sequence[Record], baseline: Sequence[Record]) -> Iterator[str]:
    if not records:
        return
    figures = compute_figures(records)
    if baseline and name != _BASELINE:
        difference = format_mean(strict_difference(records, baseline), 2)
        yield f"{name}: strict success minus {_BASELINE} on the same prompts {difference}"
    if any(record.unchecked is not None for record in records):
        first = {record.prompt: record for record in records}
        empty = clustered_rate((key, record.unchecked == 0) for key, record in first.items())
        some = clustered_rate((key, bool(record.checks)) for key, record in first.items())
        yield f"{name}: prompts with checks {format_rate(some)}, with nothing unchecked {format_rate(empty)}"
    if any(record.is_whole is not None for record in records):
        right = [record for record in records if record.right and record.is_whole is not None]
        whole = clustered_rate((record.prompt, bool(record.claimed)) for record in right if record.is_whole)
        yield (
            f"{name}: of {len(right)} right outputs {sum(not record.is_whole for record in right)} reached "
            f"the limit of tokens; of the others, {format_rate(whole)} are claimed"
        )
    if figures.errors:
        counts = ", ".join(f"{number} {error}" for error, number in figures.errors.items())
        yield f"{name}: runs that raised an exception, which count as wrong and not claimed: {counts}"
    yield f"{name}: measured at {', '.join(figures.code)}"


def format_rate(rate: Rate) -> str:
    """Write a rate as "3/4 0.75 (0.19 to 0.99)"."""
    if rate.value is None or rate.interval is None:
        return f"0/{rate.trials}"
    return (
        f"{rate.successes}/{rate.trials} {rate.value:.2f} "
        f"({rate.interval.low:.2f} to {rate.interval.high:.2f})"
    )


def format_mean(mean: Mean, digits: int) -> str:
    """Write a mean as "2.5 (1.5 to 3.5)"; "not known" if no run reported the number."""
    if mean.value is None:
        return "not known"
    if mean.interval is None:
        return f"{mean.value:.{digits}f}"
    return f"{mean.value:.{digits}f} ({mean.interval.low:.{digits}f} to {mean.interval.high:.{digits}f})"
