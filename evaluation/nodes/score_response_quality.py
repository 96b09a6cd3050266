"""Node: scores the text of the response, and evaluates the checks of the contract and their outcomes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Final, Literal

from agents.sync import Call, Conversation, run_sync
from evaluation.checks.check_model import BaseCheck, CheckContext, CheckOutcome, ToolUse
from evaluation.checks.contract_checks import NamedCheck, describe_problem, find_check
from evaluation.checks.segmentation import has_phrase
from evaluation.contract.contract import EvaluationContract, Threshold
from evaluation.contract.requirements import Requirement, evaluate_requirement, is_demanding
from evaluation.findings import (
    CheckSource,
    Finding,
    FindingKind,
    Score,
    Unscored,
    build_group,
    compare_with_bound,
    describe_comparison,
    join_names,
    limits_by_name,
)
from evaluation.measures.metric_table import LENGTHS, QUALITY_METRICS, REFERENCE_METRICS, RESPONSE_METRICS
from evaluation.measures.response_scores import find_lost_facts, score_against_reference
from evaluation.plugins import Plugins
from evaluation.report.report_model import Action, EvaluationState, PreparedState
from evaluation.texts.normal import split_words
from evaluation.values import JsonObject, Severity, format_numbers

DEFAULT_METRIC: Final = "rouge_1"
"""The similarity that the default check of a reference shows."""


def check_thresholds(
    thresholds: Mapping[str, JsonObject],
    scores: Mapping[str, Score],
    missing: Sequence[str] = (),
) -> Iterator[Finding]:
    """Compare each metric of a response with its threshold; a flag counts as 1 or 0.

    Args:
        thresholds: The normalised thresholds by metric.
        scores: The metrics of the response.
        missing: The keywords of the contract that the output lacks.
    """
    for metric, bound in thresholds.items():
        score = scores[metric]
        value = score if isinstance(score, dict) else float(score)
        finding = compare_with_bound("response", "response", metric, value, bound, "critical")
        if finding.passed is False and not isinstance(value, dict):
            finding = replace(finding, reason=_explain_failure(finding, value, bound, missing))
        yield finding


def _explain_failure(finding: Finding, value: float, bound: JsonObject, missing: Sequence[str]) -> str:
    metric, (observed, required) = finding.name, describe_comparison(value, bound)
    if metric in LENGTHS:
        return f"The output has {observed} {metric}; it must have {required}"
    if metric == "keyword_coverage" and missing:
        return f"The output lacks the keywords {join_names(missing)}; include them ({finding.reason})"
    if metric in QUALITY_METRICS:
        return f"The output differs too much from the expected answer: {finding.reason}"
    return finding.reason


def check_reference(
    thresholds: Mapping[str, Threshold | float],
    scores: Mapping[str, Score],
    output: str | None,
    reference: str,
) -> Iterator[Finding]:
    """Check an output that has a reference: its similarity if no threshold settles it, and its facts.

    Without a threshold, only an output that differs in case, white space and punctuation at most is the
    reference. Everything else is inconclusive: a wrong answer may share most words with the reference, and a
    right one few. A fact that differs keeps a run from passing against every threshold and judge.
    """
    if not any(is_demanding(thresholds.get(name)) for name in QUALITY_METRICS):
        yield _check_similarity(scores[DEFAULT_METRIC], same=scores["normalized_exact_match"] is True)
    lost = find_lost_facts(output, reference) if output is not None else []
    if lost:
        reason = f"The output does not state facts as the reference does: {join_names(lost)}; correct them"
        yield Finding("reference_facts", "response", False, "warning", "lost_fact", reason, len(lost), 0)


def _check_similarity(score: Score, *, same: bool) -> Finding:
    kind: FindingKind = "response" if same else "inconclusive"
    if same:
        reason = "the output is the reference, but for case, white space and punctuation at most"
    elif isinstance(score, dict):
        kind = "missing_data" if score["status"] == "missing_data" else "inconclusive"
        reason = f"{DEFAULT_METRIC} has no value to judge the output by: {score['reason']}"
    else:
        (similarity,) = format_numbers(score)
        reason = (
            f"The output is not the reference ({DEFAULT_METRIC}: {similarity}), and similarity cannot "
            "show whether it says the same; give a judge, or a threshold on a similarity metric"
        )
    observed = None if isinstance(score, dict) else score
    return Finding(DEFAULT_METRIC, "response", same or None, "warning", kind, reason, observed)


_CALLS: Final = ("tool", "action")
"""The kinds of actions that are calls; thoughts and hand-offs are none."""
_GIVING_ROLES: Final = frozenset({"user", "system"})
"""The roles whose messages give an assistant what it needs to know."""
_UNUSED: Final = CheckContext("")
"""Stands for the context of a contract without checks."""
_NO_OUTPUT: Final = Unscored(status="missing_data", reason="the run has no final output")
_NO_DEMAND: Final = Unscored(status="not_applicable", reason="the contract asks nothing of the response")
_UNASKED: Final[Mapping[str, Score]] = {
    **dict.fromkeys(
        REFERENCE_METRICS, Unscored(status="not_applicable", reason="no reference output is given")
    ),
    "keyword_coverage": Unscored(
        status="not_applicable", reason="no keywords and no reference output are given"
    ),
}


def score_response_quality(state: PreparedState, plugins: Plugins) -> Conversation[EvaluationState]:
    """Compute the deterministic metrics of the response, and evaluate the checks of the contract."""
    demands = state["demands"].requirements
    requirements = [each for each in demands if isinstance(each.check, BaseCheck | NamedCheck)]
    context = build_context(state) if requirements else _UNUSED
    findings = []
    # One by one: two checks of the user's code may share a folder.
    for each in requirements:
        if isinstance(each.check, NamedCheck):
            findings.append((yield from _evaluate_named(each, each.check, context, plugins)))
        else:
            findings.append(_build_finding(each, evaluate_requirement(each, context), each.severity))
    return _score_response(state, findings)


def _score_response(state: PreparedState, findings: list[Finding]) -> EvaluationState:
    contract, bounds = state["demands"].rules, state["thresholds"]
    thresholds = {name: bounds[name] for name in RESPONSE_METRICS if name in bounds}
    reference = contract.reference_output
    if reference is None and not any((contract.keywords, thresholds, findings)):
        return {"response_metrics": build_group(dict.fromkeys(RESPONSE_METRICS, _NO_DEMAND), [])}
    output = read_output(state)
    checks = [finding for finding in findings if finding.group == "response"]
    keywords = [] if output is None else contract.keywords
    missing = [each for each in keywords if not has_phrase(output or "", each)]
    scores: dict[str, Score] = {
        **_UNASKED,
        **_score_text(output, contract, missing),
        "required_content": _score_content(checks, "required_content"),
        "forbidden_content": _score_content(checks, "forbidden_content"),
    }
    compared = () if reference is None else check_reference(contract.thresholds, scores, output, reference)
    measured = [*check_thresholds(thresholds, scores, missing), *compared]
    named = {"missing_keywords": missing} if keywords else {}
    facts = {**limits_by_name(thresholds), **named}
    errors = [finding.reason for finding in findings if finding.kind == "check_error"]
    return {
        "response_metrics": build_group(scores, [*measured, *checks], facts),
        "findings": [*state["findings"], *measured, *findings],
        "errors": [*state["errors"], *errors],
    }


def _score_content(checks: Sequence[Finding], field: str) -> Score:
    """Score the content rules of a field; there is no value if one of them is undecided.

    For required content the share that is found, for forbidden content the number that is found.
    """
    rules = [check for check in checks if check.name == field]
    if not rules:
        return Unscored(status="not_applicable", reason="no content rule is given")
    if undecided := [check for check in rules if check.passed is None]:
        return Unscored(status="missing_data", reason=undecided[0].reason)
    met = sum(check.passed is True for check in rules)
    return met / len(rules) if field == "required_content" else len(rules) - met


def read_output(state: PreparedState) -> str | None:
    """Return the final output; None if the run has none.

    A recorded output may be empty; without one, an empty text only means that no message answered.
    """
    output = state["actual_output"]
    return output if output or state["agent_run"].get("final_output") is not None else None


def build_context(state: PreparedState) -> CheckContext:
    """Build the context of the checks: the output, the task, the calls and the messages."""
    output, run, conversation = read_output(state), state["agent_run"], state["conversation"]
    messages = () if conversation is None else conversation.messages
    asked = [text for message in messages if message.role in _GIVING_ROLES for text in message.texts]
    return CheckContext(
        output or "",
        task=str(run.get("input") or ""),
        tool_calls=tuple(_read_call(each) for each in state["actual_trajectory"] if each["kind"] in _CALLS),
        has_output=output is not None,
        has_calls="tool_calls" in run,
        given=(*run.get("sources", ()), *asked),
        messages=tuple(message.texts for message in messages if message.role == "assistant"),
    )


def _read_call(call: Action) -> ToolUse:
    return ToolUse(
        call["name"], call["args"], call["result"], call["error"], call["not_run"], call["outcome"]
    )


def _score_text(output: str | None, contract: EvaluationContract, missing: Sequence[str]) -> dict[str, Score]:
    reference, keywords = contract.reference_output, contract.keywords
    if output is None:
        asked = {"keyword_coverage"} if reference is not None or keywords else set[str]()
        asked.update(LENGTHS, () if reference is None else REFERENCE_METRICS)
        return dict.fromkeys(asked, _NO_OUTPUT)
    words = split_words(output)
    scores = {} if reference is None else score_against_reference(output, reference, words)
    # After the reference, whose words are only the default keywords.
    if keywords:
        scores["keyword_coverage"] = (len(keywords) - len(missing)) / len(keywords)
    return {**scores, "characters": len(output), "words": len(words)}


def _evaluate_named(
    requirement: Requirement, named: NamedCheck, context: CheckContext, plugins: Plugins
) -> Conversation[Finding]:
    check = find_check(named, [*plugins.checks, *plugins.named_checks])
    if isinstance(check, str):
        return _build_finding(requirement, describe_problem(named.name, check), named.severity)
    acall = partial(plugins.call_check, check, context)
    outcome = yield Call(partial(run_sync, acall), acall)
    return _build_finding(requirement, outcome, named.severity or check.severity)


def _build_finding(requirement: Requirement, outcome: CheckOutcome, severity: Severity | None) -> Finding:
    is_own = isinstance(requirement.check, NamedCheck)
    origin: CheckSource = "function" if is_own else "contract" if requirement.quote is None else "task"
    group: Literal["response", "trajectory"] = "trajectory" if outcome.kind == "tool" else "response"
    kind: FindingKind = group
    if outcome.passed is None:
        kind = "check_error" if outcome.is_error else "undecided"
        # At most a warning: an undecided check needs a person, but is no evidence against the agent.
        severity = severity if severity == "info" else "warning"
    return Finding(
        requirement.metric,
        group,
        outcome.passed,
        severity or "critical",
        kind,
        outcome.sentence,
        outcome.seen,
        outcome.wanted,
        evidence=outcome.evidence or None,
        check=requirement.name,
        failure=outcome.kind,
        covers=requirement.covers or outcome.covers,
        origin=origin,
        quote=requirement.quote,
    )
