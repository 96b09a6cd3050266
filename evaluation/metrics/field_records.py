"""Writes the outcomes of the contract's own fields, such as ``keywords``, as outcomes of checks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from evaluation.checks.base import CheckKind
from evaluation.inputs.rules import ContentRule, LengthBounds
from evaluation.metrics.response.checks import length_bounds
from evaluation.metrics.response.content import Demand, build_check
from evaluation.results.alerts import end_sentence, join_names
from evaluation.results.findings import CheckRecord, MetricOutcome
from evaluation.results.thresholds import describe_comparison


def record_content(
    demand: Demand, rules: Iterable[ContentRule], outcomes: Iterable[MetricOutcome]
) -> Iterator[CheckRecord]:
    """Write the outcome of each content rule."""
    for rule, outcome in zip(rules, outcomes, strict=True):
        check = build_check(rule, required=demand == "required_content")
        yield _build_record(demand, check.kind, check.describe(), outcome)


def record_keywords(keywords: Sequence[str], outcomes: Iterable[MetricOutcome]) -> Iterator[CheckRecord]:
    """Write the outcome of the keywords, unless a threshold stands for it."""
    wanted = f"include the keywords {join_names(keywords)}"
    return (_build_record("keywords", "content", wanted, outcome) for outcome in outcomes)


def record_lengths(lengths: LengthBounds, outcomes: Iterable[MetricOutcome]) -> Iterator[CheckRecord]:
    """Write the outcome of each length that has a bound."""
    for (metric, bound), outcome in zip(length_bounds(lengths).items(), outcomes, strict=True):
        wanted = f"write {describe_comparison(0, bound)[1]} {metric}"
        yield _build_record("output_length", "length", wanted, outcome)


def record_calls(tools: Iterable[str], outcomes: Iterable[MetricOutcome]) -> Iterator[CheckRecord]:
    """Write the outcome of the tools that have to be called."""
    wanted = f"call each of the tools {join_names(tools)}"
    return (_build_record("must_call", "tool", wanted, outcome) for outcome in outcomes)


def _build_record(field: str, kind: CheckKind, wanted: str, outcome: MetricOutcome) -> CheckRecord:
    # Behind the semicolon, a reason says what to do about it.
    seen = outcome["reason"].partition("; ")[0]
    return {
        "check": field,
        "passed": outcome["passed"],
        "seen": f"{seen[:1].lower()}{seen[1:]}",
        "wanted": wanted,
        "kind": kind,
        "severity": outcome["severity"],
        "sentence": end_sentence(outcome["reason"]),
        "quote": None,
        "source": "contract",
    }
