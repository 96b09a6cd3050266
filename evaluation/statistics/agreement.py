"""Measures how far two raters agree, and how far beyond chance."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from evaluation.statistics.intervals import Interval, Proportion, proportion, two_sided_quantile

Label = str | bool
Confusion = Mapping[str, Mapping[str, int]]
"""Counts by the first rater's label, then by the second's. Every label is in both."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """Accuracy, kappa and confusion of pairs of labels."""

    accuracy: Proportion
    kappa: float | None
    """From -1 to 1, with 0 for agreement by chance. None if it is not defined."""
    kappa_interval: Interval | None
    confusion: Confusion
    reason: str | None
    """The reason why kappa is None."""


def agreement(pairs: Iterable[tuple[Label, Label]], confidence: float = 0.95) -> Agreement:
    """Compare two raters' labels of the same items, each pair as (first rater, second rater).

    Cohen's kappa is (p_o - p_e) / (1 - p_e), with p_o the share of equal labels and p_e the share of equal
    labels that these margins give by chance. Its interval is normal, clipped to [-1, 1].

    Sources: Cohen (1960), A coefficient of agreement for nominal scales, Educational and Psychological
    Measurement 20; for the standard error Fleiss, Cohen and Everitt (1969), Large sample standard errors of
    kappa and weighted kappa, Psychological Bulletin 72.

    Raises:
        ContractError: ``confidence`` is not between 0 and 1.
    """
    z = two_sided_quantile(confidence)
    counts = Counter((str(first), str(second)) for first, second in pairs)
    labels = sorted({label for pair in counts for label in pair})
    total = counts.total()
    equal = sum(counts[label, label] for label in labels)
    confusion = {row: {column: counts[row, column] for column in labels} for row in labels}
    accuracy = proportion(equal, total, confidence)
    if len(labels) < 2:  # noqa: PLR2004 - with one label p_e is 1, and kappa is 0 / 0
        reason = f"only one label, {labels[0]!r}, occurs" if labels else "there is no pair of labels"
        return Agreement(accuracy, None, None, confusion, f"kappa is not defined: {reason}")
    kappa, error = _kappa_and_error(confusion, total)
    interval = Interval(max(-1.0, kappa - z * error), min(1.0, kappa + z * error), confidence)
    return Agreement(accuracy, kappa, interval, confusion, None)


def _kappa_and_error(confusion: Confusion, total: int) -> tuple[float, float]:
    rows = {label: sum(counts.values()) / total for label, counts in confusion.items()}
    columns = {label: sum(counts[label] for counts in confusion.values()) / total for label in confusion}
    observed = sum(counts[label] for label, counts in confusion.items()) / total
    chance = sum(rows[label] * columns[label] for label in confusion)
    kappa = (observed - chance) / (1 - chance)
    spread = sum(
        count / total * _spread_weight(row, column, rows, columns, kappa)
        for row, counts in confusion.items()
        for column, count in counts.items()
    )
    variance = (spread - (kappa - chance * (1 - kappa)) ** 2) / (total * (1 - chance) ** 2)
    # Rounding can make the variance slightly negative.
    return kappa, math.sqrt(max(0.0, variance))


def _spread_weight(
    row: str, column: str, rows: Mapping[str, float], columns: Mapping[str, float], kappa: float
) -> float:
    if row == column:
        return (1 - (rows[row] + columns[row]) * (1 - kappa)) ** 2
    return ((1 - kappa) * (columns[row] + rows[column])) ** 2
