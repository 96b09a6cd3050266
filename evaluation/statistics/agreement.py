"""Measures how far two raters agree, and how far beyond chance."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from evaluation.statistics.intervals import Interval, Proportion, proportion

_TWO: Final = 2


@dataclass(frozen=True, slots=True)
class Agreement:
    """Accuracy, kappa and confusion of pairs of labels."""

    accuracy: Proportion
    kappa: float | None
    """From -1 to 1, with 0 for agreement by chance. None if it is not defined."""
    confusion: Mapping[str, Mapping[str, int]]
    """Counts by the first rater's label, then by the second's. Every label is in both."""
    reason: str | None = None
    """The reason why kappa is None."""
    kappa_interval: Interval | None = None
    """None if kappa is."""


def agreement(pairs: Iterable[tuple[str | bool, str | bool]], confidence: float = 0.95) -> Agreement:
    """Compare two raters' labels of the same items, each pair as (first rater, second rater).

    Cohen's kappa is (p_o - p_e) / (1 - p_e), with p_o the share of equal labels and p_e the share of equal
    labels that these margins give by chance. Its interval is that of p_o in the same scale: as in Cohen's
    standard error, p_e counts as known, and the interval of p_o is exact for every number of pairs.

    Source: Cohen (1960), A coefficient of agreement for nominal scales, Educational and Psychological
    Measurement 20.

    Args:
        pairs: The labels.
        confidence: Of the intervals.

    Raises:
        ContractError: ``confidence`` is not between 0 and 1.
    """
    counts = Counter((str(first), str(second)) for first, second in pairs)
    labels = sorted({label for pair in counts for label in pair})
    confusion = {row: {column: counts[row, column] for column in labels} for row in labels}
    equal = sum(counts[label, label] for label in labels)
    accuracy = proportion(equal, counts.total(), confidence)
    if len(labels) < _TWO or accuracy.interval is None:  # with one label p_e is 1, and kappa is 0 / 0
        reason = f"only one label, {labels[0]!r}, occurs" if labels else "there is no pair of labels"
        return Agreement(accuracy, None, confusion, f"kappa is not defined: {reason}")
    chance = _chance_agreement(confusion)
    kappa, low, high = (
        max(-1.0, (share - chance) / (1 - chance)) for share in (equal / counts.total(), *accuracy.interval)
    )
    return Agreement(accuracy, kappa, confusion, None, Interval(low, high))


def _chance_agreement(confusion: Mapping[str, Mapping[str, int]]) -> float:
    rows = {label: sum(row.values()) for label, row in confusion.items()}
    columns = {label: sum(row[label] for row in confusion.values()) for label in confusion}
    return sum(rows[label] * columns[label] for label in confusion) / sum(rows.values()) ** 2
