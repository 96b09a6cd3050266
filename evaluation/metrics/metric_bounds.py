"""Compares the metrics of a response with their thresholds, and the output with its reference."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from evaluation.facts.lost_facts import find_lost_facts
from evaluation.inputs.contract import Threshold
from evaluation.inputs.short_forms import is_demanding
from evaluation.metrics.response_scores import LENGTHS, QUALITY_METRICS
from evaluation.results.alerts import join_names
from evaluation.results.findings import FindingKind, MetricOutcome, Score, build_outcome
from evaluation.results.thresholds import compare_with_bound, describe_comparison, unanswered_bound
from evaluation.texts.normal import count_visible
from evaluation.values import JsonObject, format_numbers

_KEYWORDS: Final = "keyword_coverage"
_CHARACTERS: Final = "characters"
DEFAULT_METRIC: Final = "rouge_1"
"""The similarity that the default check of a reference shows."""


def threshold_checks(
    thresholds: Mapping[str, JsonObject],
    scores: Mapping[str, Score],
    missing: Sequence[str] = (),
    output: str | None = None,
) -> Iterator[MetricOutcome]:
    """Compare each metric of a response with its threshold; a flag counts as 1 or 0.

    Args:
        thresholds: The normalised thresholds by metric.
        scores: The metrics of the response.
        missing: The keywords of the contract that the output lacks.
        output: The final output, whose visible characters count for a minimum.
    """
    for metric, bound in thresholds.items():
        yield _check_score(metric, bound, _measure_length(metric, bound, scores[metric], output), missing)


def _measure_length(metric: str, bound: JsonObject, score: Score, output: str | None) -> Score:
    """Return the visible characters if they are too few: blanks count for a maximum, and for no minimum."""
    least = bound.get("min")
    if metric != _CHARACTERS or output is None or not isinstance(least, (int, float)):
        return score
    visible = count_visible(output)
    return visible if visible < least else score


def _check_score(metric: str, bound: JsonObject, score: Score, missing: Sequence[str] = ()) -> MetricOutcome:
    if isinstance(score, dict):
        return unanswered_bound(metric, bound, score["reason"])
    outcome = compare_with_bound("response", metric, float(score), bound, "critical")
    if outcome["passed"]:
        return outcome
    reason = _explain_failure(outcome, *describe_comparison(float(score), bound), missing)
    return {**outcome, "reason": reason}


def _explain_failure(outcome: MetricOutcome, observed: str, required: str, missing: Sequence[str]) -> str:
    metric = outcome["metric"]
    if metric in LENGTHS:
        visible = "visible " if metric == _CHARACTERS and required.startswith("at least") else ""
        return f"The output has {observed} {visible}{metric}; it must have {required}"
    if metric == _KEYWORDS and missing:
        return f"The output lacks the keywords {join_names(missing)}; include them ({outcome['reason']})"
    if metric in QUALITY_METRICS:
        return f"The output differs too much from the expected answer: {outcome['reason']}"
    return outcome["reason"]


def reference_checks(
    thresholds: Mapping[str, Threshold | float],
    scores: Mapping[str, Score],
    output: str | None,
    reference: str,
) -> Iterator[MetricOutcome]:
    """Check an output that has a reference: its similarity if no threshold settles it, and its facts.

    Without a threshold, only an output that differs in case, white space and punctuation at most is the
    reference. Everything else is inconclusive: a wrong answer may share most words with the reference, and a
    right one few. A fact that differs keeps a run from passing, whatever a threshold or a judge says.
    """
    if not any(is_demanding(thresholds.get(name)) for name in QUALITY_METRICS):
        yield _check_similarity(scores[DEFAULT_METRIC], same=scores["normalized_exact_match"] is True)
    lost = find_lost_facts(output, reference) if output is not None else []
    if lost:
        reason = f"The output does not state facts as the reference does: {join_names(lost)}; correct them"
        yield build_outcome("lost_fact", "reference_facts", False, "warning", reason, len(lost), 0)


def _check_similarity(score: Score, *, same: bool) -> MetricOutcome:
    observed = None if isinstance(score, dict) else score
    if same:
        reason = "the output is the reference, but for case, white space and punctuation at most"
        return build_outcome("response", DEFAULT_METRIC, True, "warning", reason, observed)
    if isinstance(score, dict):
        kind: FindingKind = "missing_data" if score["status"] == "missing_data" else "inconclusive"
        reason = f"{DEFAULT_METRIC} has no value to judge the output by: {score['reason']}"
        return build_outcome(kind, DEFAULT_METRIC, None, "warning", reason)
    (similarity,) = format_numbers(score)
    reason = (
        f"The output is not the reference ({DEFAULT_METRIC}: {similarity}), and similarity cannot "
        "show whether it says the same; give a judge, or a threshold on a similarity metric"
    )
    return build_outcome("inconclusive", DEFAULT_METRIC, None, "warning", reason, observed)
