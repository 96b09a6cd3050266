"""Node: scores the text of the response and checks it against the contract."""

from __future__ import annotations

from asyncio import to_thread
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from evaluation.checks import BaseCheck, CheckContext
from evaluation.checks.registry import NamedCheck, read_contract_checks
from evaluation.inputs.rules import ContentRule, LengthBounds
from evaluation.metrics.checks import (
    aevaluate_checks,
    evaluate_checks,
    list_errors,
    list_response_outcomes,
)
from evaluation.metrics.field_records import record_content, record_keywords, record_lengths
from evaluation.metrics.response.checks import (
    keyword_checks,
    length_bounds,
    length_checks,
    reference_checks,
    threshold_checks,
)
from evaluation.metrics.response.content import AgentTexts, content_checks, content_score
from evaluation.metrics.response.scores import (
    LENGTHS,
    REFERENCE_METRICS,
    RESPONSE_METRICS,
    Score,
    score_against_reference,
    score_keywords,
)
from evaluation.metrics.response.semantic import semantic_similarity
from evaluation.metrics.response.text import find_missing_keywords, split_words
from evaluation.metrics.trajectory.rules.required_calls import read_tool_calls
from evaluation.plugins import Embedder, Plugins
from evaluation.results.findings import CheckRecord, MetricOutcome, build_group, missing_data, not_applicable
from evaluation.results.state import EvaluationState
from evaluation.results.thresholds import limits_by_name
from evaluation.values import JsonObject, as_list

_UNUSED: Final = CheckContext("")
"""Stands for the context of a contract without checks."""
_NO_REFERENCE: Final = "no reference output is given"
_NO_KEYWORDS: Final = "no keywords and no reference output are given"
_NO_RULES: Final = "no content rule is given"
_NO_DEMAND: Final = "the contract asks nothing of the response"


@dataclass(frozen=True, slots=True)
class _Case:
    """The texts of the agent, and the demands on them."""

    output: str | None
    texts: AgentTexts
    reference: str | None
    keywords: list[str]
    required: list[ContentRule]
    forbidden: list[ContentRule]
    lengths: LengthBounds | None
    thresholds: dict[str, JsonObject]
    checks: list[BaseCheck | NamedCheck]

    @property
    def has_demand(self) -> bool:
        """Whether the contract asks anything of the response."""
        demands = (self.keywords, self.required, self.forbidden, self.lengths, self.thresholds, self.checks)
        return self.reference is not None or any(demands)


def score_response_quality(state: EvaluationState, plugins: Plugins) -> EvaluationState:
    """Compute the deterministic metrics of the response, and check the demands of the contract."""
    case = _read_case(state)
    context = _build_context(state, case)
    results = evaluate_checks(case.checks, context, plugins.own_checks, plugins.call_check)
    return _score_case(state, plugins, case, results)


async def ascore_response_quality(state: EvaluationState, plugins: Plugins) -> EvaluationState:
    """Score the response; in a thread if an embedder is used, which often waits for a service."""
    case = _read_case(state)
    context = _build_context(state, case)
    results = await aevaluate_checks(case.checks, context, plugins.own_checks, plugins.call_check)
    if plugins.embedder is None:
        return _score_case(state, plugins, case, results)
    return await to_thread(_score_case, state, plugins, case, results)


def _score_case(
    state: EvaluationState, plugins: Plugins, case: _Case, results: list[CheckRecord]
) -> EvaluationState:
    if not case.has_demand:
        unscored = dict.fromkeys(RESPONSE_METRICS, not_applicable(_NO_DEMAND))
        return {"response_metrics": build_group({}, unscored, [])}
    required = content_checks("required_content", case.required, case.texts)
    forbidden = content_checks("forbidden_content", case.forbidden, case.texts)
    scores: dict[str, Score] = {
        **_score_text(case, plugins.embedder),
        "required_content": content_score(required) if required else not_applicable(_NO_RULES),
        "forbidden_content": content_score(forbidden) if forbidden else not_applicable(_NO_RULES),
    }
    missing = _missing_keywords(case, scores)
    keywords, lengths = _check_keywords(case, scores, missing or ()), _check_lengths(case, scores)
    checks = [
        *threshold_checks(case.thresholds, scores, missing or (), case.output),
        *(*keywords, *_check_reference(case, scores), *lengths),
        *(*required, *forbidden),
        *list_response_outcomes(results),
    ]
    records = [
        *results,
        *record_content("required_content", case.required, required),
        *record_content("forbidden_content", case.forbidden, forbidden),
        *(record_lengths(case.lengths, lengths) if case.lengths else ()),
        *record_keywords(case.keywords, keywords),
    ]
    metrics = _group_scores(scores, checks, _collect_facts(case, missing))
    errors = [*state["errors"], *list_errors(results)]
    return {"response_metrics": metrics, "check_results": records, "errors": errors}


def _read_case(state: EvaluationState) -> _Case:
    run, contract = state["agent_run"], state["contract"]
    output = state["actual_output"]
    # A recorded output may be empty; without one, an empty text only means that no message answered.
    final = output if output or run.get("final_output") is not None else None
    lengths = contract.get("output_length")
    return _Case(
        output=final,
        texts=AgentTexts(final, run.get("messages")),
        reference=state["reference_output"],
        keywords=[word for word in as_list(contract.get("keywords")) if isinstance(word, str)],
        required=[*map(ContentRule.model_validate, as_list(contract.get("required_content")))],
        forbidden=[*map(ContentRule.model_validate, as_list(contract.get("forbidden_content")))],
        lengths=LengthBounds.model_validate(lengths) if lengths else None,
        thresholds={name: bound for name, bound in state["thresholds"].items() if name in RESPONSE_METRICS},
        checks=[*read_contract_checks(contract["checks"])] if contract.get("checks") else [],
    )


def _build_context(state: EvaluationState, case: _Case) -> CheckContext:
    if not case.checks:
        return _UNUSED
    return CheckContext(
        case.output or "",
        task=str(state["agent_run"].get("input") or ""),
        tool_calls=read_tool_calls(state["actual_trajectory"]),
        has_output=case.output is not None,
        has_calls="tool_calls" in state["agent_run"],
    )


def _score_text(case: _Case, embedder: Embedder | None) -> dict[str, Score]:
    scores: dict[str, Score] = {
        **dict.fromkeys((*REFERENCE_METRICS, "semantic_similarity"), not_applicable(_NO_REFERENCE)),
        "keyword_coverage": not_applicable(_NO_KEYWORDS),
    }
    if case.output is None:
        missing = missing_data("the run has no final output")
        return {**scores, **dict.fromkeys(_metrics_of_output(case, embedder), missing)}
    words = split_words(case.output)
    if case.reference is not None:
        scores |= score_against_reference(case.output, case.reference, words)
        scores["semantic_similarity"] = semantic_similarity(embedder, case.output, case.reference)
    # After the reference, whose words are only the default keywords.
    if case.keywords:
        scores["keyword_coverage"] = score_keywords(case.output, words, case.keywords)
    return {**scores, "characters": len(case.output), "words": len(words)}


def _metrics_of_output(case: _Case, embedder: Embedder | None) -> Iterator[str]:
    """List the metrics that need an output."""
    yield from LENGTHS
    if case.reference is not None:
        yield from REFERENCE_METRICS
    if case.reference is not None and embedder is not None:
        yield "semantic_similarity"
    if case.reference is not None or case.keywords:
        yield "keyword_coverage"


def _check_keywords(case: _Case, scores: dict[str, Score], missing: Sequence[str]) -> list[MetricOutcome]:
    if not case.keywords:
        return []
    return [*keyword_checks(case.thresholds, scores["keyword_coverage"], missing)]


def _check_reference(case: _Case, scores: dict[str, Score]) -> Iterable[MetricOutcome]:
    if case.reference is None:
        return ()
    return reference_checks(case.thresholds, scores, case.output, case.reference)


def _check_lengths(case: _Case, scores: dict[str, Score]) -> list[MetricOutcome]:
    return [] if case.lengths is None else [*length_checks(case.lengths, scores, case.output)]


def _missing_keywords(case: _Case, scores: dict[str, Score]) -> list[str] | None:
    """List the keywords of the contract that the output lacks; None if they could not be searched."""
    if not case.keywords or case.output is None or isinstance(scores["keyword_coverage"], dict):
        return None
    return find_missing_keywords(case.output, split_words(case.output), case.keywords)


def _collect_facts(case: _Case, missing: list[str] | None) -> JsonObject:
    """Collect the bounds and the missing keywords, which the report shows beside the values."""
    lengths = {} if case.lengths is None else length_bounds(case.lengths)
    facts = {**limits_by_name(case.thresholds), **limits_by_name(lengths)}
    return facts if missing is None else {**facts, "missing_keywords": missing}


def _group_scores(scores: dict[str, Score], checks: list[MetricOutcome], facts: JsonObject) -> JsonObject:
    scored = {name: score for name, score in scores.items() if not isinstance(score, dict)}
    unscored = {name: score for name, score in scores.items() if isinstance(score, dict)}
    return build_group(scored, unscored, checks, facts)
