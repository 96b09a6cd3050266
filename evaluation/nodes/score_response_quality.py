"""Node: scores the text of the response and checks it against the contract."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from evaluation.checks import CheckContext, ToolUse
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
from evaluation.metrics.metric_bounds import reference_checks, threshold_checks
from evaluation.metrics.response_scores import (
    LENGTHS,
    REFERENCE_METRICS,
    RESPONSE_METRICS,
    find_missing_keywords,
    score_against_reference,
)
from evaluation.plugins import Plugins
from evaluation.results.findings import MetricOutcome, Score, build_group, missing_data, not_applicable
from evaluation.results.state import EvaluationState
from evaluation.results.thresholds import limits_by_name
from evaluation.texts.normal import split_words
from evaluation.values import JsonObject, as_list

_OF_OTHER_NODES: Final = frozenset({"expected_trajectory", "trajectory", "rubric", "judge", "audit", "drift"})
"""The parts of a contract that are not validated once more."""
_UNUSED: Final = CheckContext("")
"""Stands for the context of a contract without checks."""
_NO_CONTRACT: Final = EvaluationContract()
_NO_REFERENCE: Final = "no reference output is given"
_NO_KEYWORDS: Final = "no keywords and no reference output are given"
_NO_RULES: Final = "no content rule is given"
_NO_DEMAND: Final = "the contract asks nothing of the response"


def score_response_quality(state: EvaluationState, plugins: Plugins) -> EvaluationState:
    """Compute the deterministic metrics of the response, and evaluate the checks of the contract."""
    contract = _read_contract(state)
    if contract is _NO_CONTRACT:
        return _score_nothing()
    requirements = expand_contract(contract)
    context = build_context(state) if requirements else _UNUSED
    results = evaluate_checks(requirements, context, plugins.own_checks, plugins.call_check)
    return _score_response(state, contract, results)


async def ascore_response_quality(state: EvaluationState, plugins: Plugins) -> EvaluationState:
    """Score the response, and await the checks of the user's code."""
    contract = _read_contract(state)
    requirements = expand_contract(contract)
    context = build_context(state) if requirements else _UNUSED
    results = await aevaluate_checks(requirements, context, plugins.own_checks, plugins.call_check)
    return _score_response(state, contract, results)


def _read_contract(state: EvaluationState) -> EvaluationContract:
    asked = {name: value for name, value in state["contract"].items() if name not in _OF_OTHER_NODES}
    if not asked:
        return _NO_CONTRACT
    return EvaluationContract.model_validate({**asked, "thresholds": _select_thresholds(state)})


def _select_thresholds(state: EvaluationState) -> dict[str, JsonObject]:
    return {name: bound for name, bound in state["thresholds"].items() if name in RESPONSE_METRICS}


def _score_response(
    state: EvaluationState, contract: EvaluationContract, results: list[CheckResult]
) -> EvaluationState:
    thresholds, reference = _select_thresholds(state), contract.reference_output
    if reference is None and not any((contract.keywords, thresholds, results)):
        return _score_nothing()
    output = read_output(state)
    outcomes = [result.outcome for result in results if result.record["kind"] != "tool"]
    missing = None if output is None else find_missing_keywords(output, contract.keywords)
    scores: dict[str, Score] = {
        **_score_text(output, contract, missing or []),
        "required_content": _score_content(outcomes, "required_content"),
        "forbidden_content": _score_content(outcomes, "forbidden_content"),
    }
    compared = () if reference is None else reference_checks(contract.thresholds, scores, output, reference)
    checks = [*threshold_checks(thresholds, scores, missing or (), output), *compared, *outcomes]
    limits = {**limits_by_name(thresholds), **limits_by_name(read_lengths(contract.output_length))}
    named = {"missing_keywords": missing} if contract.keywords and missing is not None else {}
    metrics = build_group(scores, checks, {**limits, **named})
    errors = [*state["errors"], *list_errors(results)]
    records = [result.record for result in results]
    return {"response_metrics": metrics, "check_results": records, "errors": errors}


def _score_nothing() -> EvaluationState:
    unscored = dict.fromkeys(RESPONSE_METRICS, not_applicable(_NO_DEMAND))
    return {"response_metrics": build_group(unscored, [])}


def _score_content(outcomes: Sequence[MetricOutcome], field: str) -> Score:
    rules = [outcome for outcome in outcomes if outcome["metric"] == field]
    return score_content(rules) if rules else not_applicable(_NO_RULES)


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


def _score_text(output: str | None, contract: EvaluationContract, missing: Sequence[str]) -> dict[str, Score]:
    reference, keywords = contract.reference_output, contract.keywords
    has_reference = reference is not None
    scores: dict[str, Score] = {
        **dict.fromkeys(REFERENCE_METRICS, not_applicable(_NO_REFERENCE)),
        "keyword_coverage": not_applicable(_NO_KEYWORDS),
    }
    if output is None:
        asked = [*LENGTHS, *(REFERENCE_METRICS if has_reference else ())]
        coverage = ["keyword_coverage"] if has_reference or keywords else []
        return {**scores, **dict.fromkeys([*asked, *coverage], missing_data("the run has no final output"))}
    words = split_words(output)
    if reference is not None:
        scores |= score_against_reference(output, reference, words)
    # After the reference, whose words are only the default keywords.
    if keywords:
        scores["keyword_coverage"] = (len(keywords) - len(missing)) / len(keywords)
    return {**scores, "characters": len(output), "words": len(words)}
