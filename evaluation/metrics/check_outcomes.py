"""Evaluates the checks of a contract, and writes their outcomes as results and findings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from agents.sync import run_sync
from evaluation.checks.check_model import BaseCheck, CheckContext, CheckOutcome, ToolUse
from evaluation.checks.contract_checks import NamedCheck, Requirement, evaluate_requirement, find_check
from evaluation.checks.custom import CheckCaller, CustomCheck, call_check, describe_problem
from evaluation.results.findings import (
    CheckRecord,
    CheckSource,
    FindingKind,
    MetricOutcome,
    Unscored,
    build_outcome,
    missing_data,
)
from evaluation.results.state import Action
from evaluation.values import Severity

_CALLS: Final = ("tool", "action")
"""The kinds of actions that are calls."""


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The outcome of one requirement: its record in the report, and the metric of its alert."""

    metric: str
    record: CheckRecord

    @property
    def outcome(self) -> MetricOutcome:
        """The outcome of the metric."""
        return _build_outcome(self.metric, self.record)


def evaluate_checks(
    requirements: Sequence[Requirement],
    context: CheckContext,
    given: Sequence[CustomCheck] = (),
    call: CheckCaller = call_check,
) -> list[CheckResult]:
    """Evaluate the requirements on one run, in their order, from blocking code.

    Args:
        requirements: The checks of a contract.
        context: The output with its task.
        given: The checks of the user's code; see ``find_check``.
        call: Calls the checks of the user's code.
    """
    if any(isinstance(each.check, NamedCheck) for each in requirements):
        return run_sync(lambda: aevaluate_checks(requirements, context, given, call))
    return [_evaluate(each, context) for each in requirements]


async def aevaluate_checks(
    requirements: Iterable[Requirement],
    context: CheckContext,
    given: Sequence[CustomCheck] = (),
    call: CheckCaller = call_check,
) -> list[CheckResult]:
    """Evaluate requirements as ``evaluate_checks`` does, one by one: two commands may share a folder."""
    return [
        await _evaluate_named(each, each.check, context, given, call)
        if isinstance(each.check, NamedCheck)
        else _evaluate(each, context)
        for each in requirements
    ]


def _evaluate(requirement: Requirement, context: CheckContext) -> CheckResult:
    quote = requirement.check.quote if isinstance(requirement.check, BaseCheck) else None
    outcome = evaluate_requirement(requirement, context)
    source: CheckSource = "contract" if quote is None else "task"
    return _build_result(requirement, outcome, requirement.severity or "critical", source, quote)


async def _evaluate_named(
    requirement: Requirement,
    named: NamedCheck,
    context: CheckContext,
    given: Sequence[CustomCheck],
    call: CheckCaller,
) -> CheckResult:
    check = find_check(named, given)
    if isinstance(check, str):
        outcome = describe_problem(named.name, check)
        return _build_result(requirement, outcome, named.severity or "critical", "function")
    severity = named.severity or check.severity
    return _build_result(requirement, await call(check, context), severity, check.source)


def _build_result(
    requirement: Requirement,
    outcome: CheckOutcome,
    severity: Severity,
    source: CheckSource,
    quote: str | None = None,
) -> CheckResult:
    record: CheckRecord = {
        "check": requirement.name,
        "passed": outcome.passed,
        "seen": outcome.seen,
        "wanted": outcome.wanted,
        "kind": outcome.kind,
        "covers": outcome.covers,
        "severity": severity,
        "sentence": outcome.sentence,
        "quote": quote,
        "source": source,
    }
    if outcome.evidence:
        record["evidence"] = outcome.evidence
    if outcome.is_error:
        record["is_error"] = True
    return CheckResult(requirement.metric, record)


def list_errors(results: Iterable[CheckResult]) -> list[str]:
    """List the sentences of the checks that have no result because of an error of their own."""
    return [each.record["sentence"] for each in results if each.record.get("is_error")]


def _build_outcome(metric: str, record: CheckRecord) -> MetricOutcome:
    is_decided = record["passed"] is not None
    kind: FindingKind = "trajectory" if record["kind"] == "tool" else "response"
    if not is_decided:
        kind = "check_error" if record.get("is_error") else "undecided"
    # At most a warning: an undecided check needs a person, but is no evidence against the agent.
    is_doubt = not is_decided and record["severity"] == "critical"
    severity: Severity = "warning" if is_doubt else record["severity"]
    passed, reason = record["passed"], record["sentence"]
    return build_outcome(kind, metric, passed, severity, reason, record["seen"], record["wanted"])


def list_tool_outcomes(records: Iterable[CheckRecord]) -> Iterator[MetricOutcome]:
    """Yield the outcomes of the checks of tools."""
    for record in records:
        if record["kind"] == "tool":
            metric = "must_call" if record["check"] == "must_call" else f"checks.{record['check']}"
            yield _build_outcome(metric, record)


def read_tool_calls(actions: Iterable[Action]) -> tuple[ToolUse, ...]:
    """Return the actions that are calls, as checks read them; thoughts and hand-offs are none."""
    return tuple(
        ToolUse(
            action["name"],
            action["args"],
            action["result"],
            action["error"],
            action["not_run"],
            action["outcome"],
        )
        for action in actions
        if action["kind"] in _CALLS
    )


def score_content(outcomes: Sequence[MetricOutcome]) -> float | int | Unscored:
    """Score the content rules (at least one) of one field; there is no value if one of them is undecided.

    For required content the share that is found, for forbidden content the number that is found.
    """
    undecided = next((outcome for outcome in outcomes if outcome["passed"] is None), None)
    if undecided is not None:
        return missing_data(undecided["reason"])
    met = sum(outcome["passed"] is True for outcome in outcomes)
    return met / len(outcomes) if outcomes[0]["metric"] == "required_content" else len(outcomes) - met
