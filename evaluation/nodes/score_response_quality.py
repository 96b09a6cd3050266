"""Node: scores the text of the response and checks it against the contract."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from evaluation.checks import CheckContext, ToolUse
from evaluation.checks.requirement import Requirement
from evaluation.inputs.contract import EvaluationContract
from evaluation.inputs.messages import assistant_parts, list_given_texts
from evaluation.inputs.run import ToolCall
from evaluation.inputs.short_forms import expand_contract, read_lengths
from evaluation.metrics.check_outcomes import (
    CheckResult,
    aevaluate_checks,
    evaluate_checks,
    list_errors,
    read_tool_calls,
    score_content,
)
from evaluation.metrics.response.metric_bounds import reference_checks, threshold_checks
from evaluation.metrics.response.scores import (
    LENGTHS,
    REFERENCE_METRICS,
    RESPONSE_METRICS,
    score_against_reference,
)
from evaluation.metrics.response.text import find_missing_keywords
from evaluation.plugins import Plugins
from evaluation.results.findings import MetricOutcome, Score, build_group, missing_data, not_applicable
from evaluation.results.state import EvaluationState
from evaluation.results.thresholds import limits_by_name
from evaluation.texts.words import split_words
from evaluation.values import JsonObject, as_list

_OF_OTHER_NODES: Final = frozenset({"expected_trajectory", "trajectory", "rubric", "judge", "audit", "drift"})
"""The parts of a contract that are not validated once more."""
_UNUSED: Final = CheckContext("")
"""Stands for the context of a contract without checks."""
_NO_REFERENCE: Final = "no reference output is given"
_NO_KEYWORDS: Final = "no keywords and no reference output are given"
_NO_RULES: Final = "no content rule is given"
_NO_DEMAND: Final = "the contract asks nothing of the response"


@dataclass(frozen=True, slots=True)
class _Case:
    """The output, and the demands on it."""

    output: str | None
    reference: str | None
    keywords: list[str]
    thresholds: dict[str, JsonObject]
    lengths: dict[str, dict[str, int]]
    requirements: list[Requirement]


def score_response_quality(state: EvaluationState, plugins: Plugins) -> EvaluationState:
    """Compute the deterministic metrics of the response, and evaluate the checks of the contract."""
    case = _read_case(state)
    context = build_context(state) if case.requirements else _UNUSED
    results = evaluate_checks(case.requirements, context, plugins.own_checks, plugins.call_check)
    return _score_case(state, case, results)


async def ascore_response_quality(state: EvaluationState, plugins: Plugins) -> EvaluationState:
    """Score the response, and await the checks of the user's code."""
    case = _read_case(state)
    context = build_context(state) if case.requirements else _UNUSED
    results = await aevaluate_checks(case.requirements, context, plugins.own_checks, plugins.call_check)
    return _score_case(state, case, results)


def _score_case(state: EvaluationState, case: _Case, results: list[CheckResult]) -> EvaluationState:
    if case.reference is None and not any((case.keywords, case.thresholds, case.requirements)):
        unscored = dict.fromkeys(RESPONSE_METRICS, not_applicable(_NO_DEMAND))
        return {"response_metrics": build_group(unscored, [])}
    outcomes = [result.outcome for result in results if result.record["kind"] != "tool"]
    missing = _missing_keywords(case)
    scores: dict[str, Score] = {
        **_score_text(case, missing),
        "required_content": _score_content(outcomes, "required_content"),
        "forbidden_content": _score_content(outcomes, "forbidden_content"),
    }
    checks = [
        *threshold_checks(case.thresholds, scores, missing or (), case.output),
        *(
            reference_checks(case.thresholds, scores, case.output, case.reference)
            if case.reference is not None
            else ()
        ),
        *outcomes,
    ]
    limits = {**limits_by_name(case.thresholds), **limits_by_name(case.lengths)}
    named = {} if missing is None else {"missing_keywords": missing}
    metrics = build_group(scores, checks, {**limits, **named})
    errors = [*state["errors"], *list_errors(results)]
    records = [result.record for result in results]
    return {"response_metrics": metrics, "check_results": records, "errors": errors}


def _score_content(outcomes: Sequence[MetricOutcome], field: str) -> Score:
    rules = [outcome for outcome in outcomes if outcome["metric"] == field]
    return score_content(rules) if rules else not_applicable(_NO_RULES)


def _read_case(state: EvaluationState) -> _Case:
    thresholds = {name: bound for name, bound in state["thresholds"].items() if name in RESPONSE_METRICS}
    asked = {name: value for name, value in state["contract"].items() if name not in _OF_OTHER_NODES}
    contract = EvaluationContract.model_validate({**asked, "thresholds": thresholds})
    return _Case(
        output=read_output(state),
        reference=state["reference_output"],
        keywords=contract.keywords,
        thresholds=thresholds,
        lengths=read_lengths(contract.output_length),
        requirements=expand_contract(contract),
    )


def read_output(state: EvaluationState) -> str | None:
    """Return the final output; None if the run has none.

    A recorded output may be empty; without one, an empty text only means that no message answered.
    """
    output = state["actual_output"]
    return output if output or state["agent_run"].get("final_output") is not None else None


def build_context(state: EvaluationState) -> CheckContext:
    """Build the context of the checks: the output, the task, the calls and the messages."""
    output, run = read_output(state), state["agent_run"]
    return CheckContext(
        output or "",
        task=str(run.get("input") or ""),
        tool_calls=read_tool_calls(state["actual_trajectory"]),
        has_output=output is not None,
        has_calls="tool_calls" in run,
        probes=tuple(map(_read_probe, as_list(run.get("probes")))),
        given=tuple(list_given_texts(run)),
        messages=tuple(map(tuple, assistant_parts(run.get("messages")))),
    )


def _read_probe(value: object) -> ToolUse:
    call = ToolCall.model_validate(value)
    args = call.args if isinstance(call.args, dict) else None
    return ToolUse(call.name, args, call.result, None if call.error in {None, False} else str(call.error))


def _score_text(case: _Case, missing: list[str] | None) -> dict[str, Score]:
    scores: dict[str, Score] = {
        **dict.fromkeys(REFERENCE_METRICS, not_applicable(_NO_REFERENCE)),
        "keyword_coverage": not_applicable(_NO_KEYWORDS),
    }
    if case.output is None:
        lacking = missing_data("the run has no final output")
        return {**scores, **dict.fromkeys(_metrics_of_output(case), lacking)}
    words = split_words(case.output)
    if case.reference is not None:
        scores |= score_against_reference(case.output, case.reference, words)
    # After the reference, whose words are only the default keywords.
    if missing is not None:
        scores["keyword_coverage"] = (len(case.keywords) - len(missing)) / len(case.keywords)
    return {**scores, "characters": len(case.output), "words": len(words)}


def _metrics_of_output(case: _Case) -> Iterator[str]:
    """List the metrics that need an output."""
    yield from LENGTHS
    if case.reference is not None:
        yield from REFERENCE_METRICS
    if case.reference is not None or case.keywords:
        yield "keyword_coverage"


def _missing_keywords(case: _Case) -> list[str] | None:
    """List the keywords of the contract that the output lacks; None without keywords or an output."""
    if not case.keywords or case.output is None:
        return None
    return find_missing_keywords(case.output, split_words(case.output), case.keywords)
