"""Formats the figures of a judge."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Final

from evaluation import JudgeTrust
from evaluation.judges.trust.figures import Kind
from evaluation.judges.trust.labelled_set import get_set_version
from evaluation.statistics.intervals import Proportion
from orchestrator.cli.view.text import count_noun

_WRONG: Final[dict[Kind, str]] = {
    "subtle": "subtly wrong",
    "plain": "plainly wrong",
    "injected": "with a text that asks for approval",
}


def format_trust(trust: JudgeTrust) -> str:
    """Format the figures in plain words, several lines."""
    return "\n".join(_iter_lines(trust))


def trust_to_plain(trust: JudgeTrust, file: Path | None) -> dict[str, object]:
    """Convert the figures to plain values.

    Args:
        trust: The figures.
        file: The file that has them; None if they were not kept.
    """
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


def _iter_lines(trust: JudgeTrust) -> Iterator[str]:
    accepts, rejects = trust.false_accepts, trust.false_rejects
    yield f"Judge: {trust.judge}"
    yield f"It accepted {_format_count(accepts, 'wrong output')}. False accepts: {_format_rate(accepts)}."
    for kind, name in _WRONG.items():
        counts = trust.counts[kind]
        yield f"  {name}: accepted {counts.accepted} of {counts.accepted + counts.refused}"
    yield f"It refused {_format_count(rejects, 'right output')}. False rejects: {_format_rate(rejects)}."
    yield f"It gave no verdict on {trust.needs_review} of {count_noun(trust.total, 'output')}."
    yield "Trusted." if trust.distrust is None else f"Not trusted: {trust.distrust}."


def _format_count(rate: Proportion, noun: str) -> str:
    return f"{rate.successes} of {count_noun(rate.trials, noun)} that it gave a verdict on"


def _format_rate(rate: Proportion) -> str:
    if rate.value is None or rate.interval is None:
        return "unknown"
    return f"{rate.value:.0%} (95% interval: {rate.interval.low:.0%} to {rate.interval.high:.0%})"
