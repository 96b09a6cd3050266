"""Evaluates the checks of a contract, and writes their outcomes as results and findings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import cast

from agents.sync import run_sync
from evaluation.checks.base import BaseCheck, CheckOutcome
from evaluation.checks.context import CheckContext
from evaluation.checks.custom import CheckCaller, CustomCheck, call_check, describe_problem
from evaluation.checks.registry import NamedCheck, find_check
from evaluation.results.findings import CheckRecord, CheckSource, FindingKind, MetricOutcome, build_outcome
from evaluation.values import Severity


def evaluate_checks(
    checks: Sequence[BaseCheck | NamedCheck],
    context: CheckContext,
    given: Sequence[CustomCheck] = (),
    call: CheckCaller = call_check,
) -> list[CheckRecord]:
    """Evaluate checks of one run, in their order, from blocking code.

    Args:
        checks: Checks of the vocabulary, and checks of the user's code by name.
        context: The output with its task.
        given: The checks of the user's code; see ``find_check``.
        call: Calls the checks of the user's code.
    """
    if any(isinstance(check, NamedCheck) for check in checks):
        return run_sync(lambda: aevaluate_checks(checks, context, given, call))
    return [_evaluate(cast("BaseCheck", check), context) for check in checks]


async def aevaluate_checks(
    checks: Iterable[BaseCheck | NamedCheck],
    context: CheckContext,
    given: Sequence[CustomCheck] = (),
    call: CheckCaller = call_check,
) -> list[CheckRecord]:
    """Evaluate checks as ``evaluate_checks`` does. One after the other: two commands may share a folder."""
    return [
        _evaluate(check, context)
        if isinstance(check, BaseCheck)
        else await _evaluate_named(check, context, given, call)
        for check in checks
    ]


def _evaluate(check: BaseCheck, context: CheckContext) -> CheckRecord:
    source: CheckSource = "contract" if check.quote is None else "task"
    return _build_record(check.get_name(), check.evaluate(context), check.severity, source, check.quote)


async def _evaluate_named(
    named: NamedCheck, context: CheckContext, given: Sequence[CustomCheck], call: CheckCaller
) -> CheckRecord:
    check = find_check(named, given)
    if isinstance(check, str):
        outcome = describe_problem(named.name, check)
        return _build_record(named.name, outcome, named.severity or "critical", "function")
    return _build_record(
        named.name, await call(check, context), named.severity or check.severity, check.source
    )


def _build_record(
    name: str, outcome: CheckOutcome, severity: Severity, source: CheckSource, quote: str | None = None
) -> CheckRecord:
    record: CheckRecord = {
        "check": name,
        "passed": outcome.passed,
        "seen": outcome.seen,
        "wanted": outcome.wanted,
        "kind": outcome.kind,
        "severity": severity,
        "sentence": outcome.sentence,
        "quote": quote,
        "source": source,
    }
    if outcome.evidence:
        record = {**record, "evidence": outcome.evidence}
    return {**record, "is_error": True} if outcome.is_error else record


def list_errors(results: Iterable[CheckRecord]) -> list[str]:
    """List the sentences of the checks that have no result because of an error of their own."""
    return [result["sentence"] for result in results if result.get("is_error")]


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
        kind if is_decided else "check_error" if result.get("is_error") else "undecided",
        f"checks.{result['check']}",
        result["passed"],
        severity,
        result["sentence"],
        result["seen"],
        result["wanted"],
    )
