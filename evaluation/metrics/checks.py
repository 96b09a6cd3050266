"""Evaluates the checks of a contract, and writes their outcomes as results and findings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from evaluation.checks import BaseCheck, CheckContext
from evaluation.results.findings import CheckRecord, FindingKind, MetricOutcome, build_outcome
from evaluation.values import Severity


def evaluate_checks(checks: Iterable[BaseCheck], context: CheckContext) -> list[CheckRecord]:
    """Evaluate checks of one run, in their order."""
    return [_evaluate(check, context) for check in checks]


def _evaluate(check: BaseCheck, context: CheckContext) -> CheckRecord:
    outcome = check.evaluate(context)
    return {
        "check": check.get_name(),
        "passed": outcome.passed,
        "seen": outcome.seen,
        "wanted": outcome.wanted,
        "kind": outcome.kind,
        "severity": check.severity,
        "sentence": outcome.sentence,
        "quote": check.quote,
        "source": "contract" if check.quote is None else "task",
    }


def list_response_outcomes(results: Iterable[CheckRecord]) -> Iterator[MetricOutcome]:
    """Yield the findings about the text of the response."""
    return (_build_outcome(result, "response") for result in results if result["kind"] != "tool")


def list_tool_outcomes(results: Iterable[CheckRecord]) -> Iterator[MetricOutcome]:
    """Yield the findings about the tools that were called."""
    return (_build_outcome(result, "trajectory") for result in results if result["kind"] == "tool")


def _build_outcome(result: CheckRecord, kind: FindingKind) -> MetricOutcome:
    is_decided = result["passed"] is not None
    # At most a warning: an undecided check needs a person, but is no evidence against the agent.
    severity: Severity = (
        "warning" if not is_decided and result["severity"] == "critical" else result["severity"]
    )
    return build_outcome(
        kind if is_decided else "undecided",
        f"checks.{result['check']}",
        result["passed"],
        severity,
        result["sentence"],
        result["seen"],
        result["wanted"],
    )
