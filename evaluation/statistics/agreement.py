"""Measures how far two raters agree, and how far beyond chance."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import NormalDist
from typing import Final

from evaluation.errors import MissingExtraError
from evaluation.statistics.extra import import_extra
from evaluation.statistics.intervals import Interval, Proportion, proportion, upper_probability

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
    """By the large-sample standard error, with the extra ``statistics``."""
    interval_reason: str | None = None
    """The reason why there is no interval of kappa."""


def agreement(pairs: Iterable[tuple[str | bool, str | bool]], confidence: float = 0.95) -> Agreement:
    """Compare two raters' labels of the same items, each pair as (first rater, second rater).

    Cohen's kappa is (p_o - p_e) / (1 - p_e), with p_o the share of equal labels and p_e the share of equal
    labels that these margins give by chance.

    Sources: Cohen (1960), A coefficient of agreement for nominal scales, Educational and Psychological
    Measurement 20; the interval by ``statsmodels.stats.inter_rater.cohens_kappa``.

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
    if len(labels) < _TWO:  # with one label p_e is 1, and kappa is 0 / 0
        reason = f"only one label, {labels[0]!r}, occurs" if labels else "there is no pair of labels"
        undefined = f"kappa is not defined: {reason}"
        return Agreement(accuracy, None, confusion, undefined, None, undefined)
    kappa = _compute_kappa(confusion)
    interval = _find_interval(confusion, kappa, confidence)
    if isinstance(interval, str):
        return Agreement(accuracy, kappa, confusion, None, None, interval)
    return Agreement(accuracy, kappa, confusion, None, interval)


def _compute_kappa(confusion: Mapping[str, Mapping[str, int]]) -> float:
    rows = {label: sum(row.values()) for label, row in confusion.items()}
    columns = {label: sum(row[label] for row in confusion.values()) for label in confusion}
    total = sum(rows.values())
    equal = sum(confusion[label][label] for label in confusion) / total
    chance = sum(rows[label] * columns[label] for label in confusion) / total**2
    return (equal - chance) / (1 - chance)


def _find_interval(
    confusion: Mapping[str, Mapping[str, int]], kappa: float, confidence: float
) -> Interval | str:
    """Return the interval of kappa, or the reason why there is none."""
    margins = [sum(row.values()) for row in confusion.values()]
    margins += [sum(row[label] for row in confusion.values()) for label in confusion]
    if kappa == 1.0 or 0 in margins:
        return "kappa has no standard error if all labels are equal, or if a rater never gives one of them"
    try:
        raters = import_extra("statsmodels.stats.inter_rater")
    except MissingExtraError as error:
        return str(error)
    result = raters.cohens_kappa([[*row.values()] for row in confusion.values()], return_results=True)
    half = NormalDist().inv_cdf(upper_probability(confidence)) * float(result.std_kappa)
    return Interval(max(-1.0, kappa - half), min(1.0, kappa + half))
