"""Expands the short forms of a contract, such as ``keywords``, into checks. Nothing else reads them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Final

from evaluation.checks.base import BaseCheck
from evaluation.checks.kinds.counts import CharacterCount, WordCount
from evaluation.checks.kinds.data_formats import JsonSchema
from evaluation.checks.kinds.tools import ToolCalls
from evaluation.checks.kinds.wording import Contains, Excludes, Pattern, StatesNumber
from evaluation.checks.registry import read_contract_checks
from evaluation.checks.requirement import Requirement
from evaluation.inputs.rules import ContentRule
from evaluation.values import JsonObject, as_list, as_object

_CACHED: Final = 256


def expand_contract(contract: JsonObject) -> list[Requirement]:
    """List every check that a valid contract asks for, those of ``checks`` first.

    | field | check |
    |---|---|
    | ``required_content`` | ``contains``, ``regex``, ``schema`` or ``states_number`` |
    | ``forbidden_content`` | ``excludes``, or these with the opposite sense |
    | ``output_length`` | ``character_count``, ``word_count`` |
    | ``keywords`` | ``contains``, unless a threshold on ``keyword_coverage`` stands for it |
    | ``must_call`` | ``tool_calls`` |
    """
    return [
        *_read_checks(contract),
        *(expand_rule(rule, required=True) for rule in _read_rules(contract, "required_content")),
        *(expand_rule(rule, required=False) for rule in _read_rules(contract, "forbidden_content")),
        *_expand_lengths(contract),
        *_expand_keywords(contract),
        *(_expand_call(str(tool)) for tool in as_list(contract.get("must_call"))),
    ]


def expand_rule(rule: ContentRule, *, required: bool) -> Requirement:
    """Write a content rule as a check; one that forbids reads by default all that the assistant said."""
    name = "required_content" if required else "forbidden_content"
    place = rule.where if required or "where" in rule.model_fields_set else "assistant_messages"
    return Requirement(build_check(rule, required=required), name, name, rule.severity, place, not required)


def _read_checks(contract: JsonObject) -> Iterator[Requirement]:
    stated = contract.get("checks")
    for check in read_contract_checks(stated) if stated else ():
        name = check.get_name() if isinstance(check, BaseCheck) else check.name
        yield Requirement(check, name, f"checks.{name}", check.severity)


def _read_rules(contract: JsonObject, field: str) -> Iterator[ContentRule]:
    return map(ContentRule.model_validate, as_list(contract.get(field)))


def read_lengths(contract: JsonObject) -> dict[str, dict[str, int]]:
    """Return the bounds of ``output_length`` by metric: ``{"words": {"max": 5}}``."""
    stated = as_object(contract.get("output_length"))
    bounds = {
        metric: {
            side: int(limit)
            for side in ("min", "max")
            if isinstance(limit := stated.get(f"{side}_{metric}"), int | float)
        }
        for metric in ("characters", "words")
    }
    return {metric: limits for metric, limits in bounds.items() if limits}


def _expand_lengths(contract: JsonObject) -> Iterator[Requirement]:
    for metric, bounds in read_lengths(contract).items():
        kind = CharacterCount if metric == "characters" else WordCount
        yield Requirement(kind.model_validate(bounds), "output_length", metric, "critical")


def _expand_keywords(contract: JsonObject) -> Iterator[Requirement]:
    keywords = [word for word in as_list(contract.get("keywords")) if isinstance(word, str) and word.strip()]
    thresholds = contract.get("thresholds")
    bound = thresholds.get("keyword_coverage") if isinstance(thresholds, Mapping) else None
    if keywords and not is_demanding(bound):
        check = Contains(texts=keywords, whole_words=True)
        yield Requirement(check, "keywords", "keyword_coverage", "critical")


def is_demanding(bound: object) -> bool:
    """Return whether a threshold on a share or a similarity is a minimum whose breach matters."""
    if not isinstance(bound, Mapping):
        return isinstance(bound, int | float) and bound > 0
    least = bound.get("min")
    return isinstance(least, int | float) and least > 0 and bound.get("severity") != "info"


def _expand_call(tool: str) -> Requirement:
    return Requirement(ToolCalls(tool=tool, min=1), "must_call", "must_call", "critical")


def build_check(rule: ContentRule, *, required: bool) -> BaseCheck:
    """Write a content rule as a check of one text."""
    if rule.text is not None:
        return _search_text(rule.text, required=required, ignore_case=rule.ignore_case)
    if rule.pattern is not None:
        return _search_pattern(rule.pattern, required=required)
    if rule.number is not None:
        return StatesNumber(number=rule.number, tolerance=rule.tolerance, present=required)
    schema = rule.json_schema is not None and rule.json_schema
    return JsonSchema(json_schema=schema, alone=False, matches=required)


# Cached, because many runs have the same contract.
@lru_cache(_CACHED)
def _search_text(text: str, *, required: bool, ignore_case: bool) -> BaseCheck:
    kind = Contains if required else Excludes
    return kind(texts=[text], ignore_case=ignore_case, whole_words=False)


@lru_cache(_CACHED)
def _search_pattern(pattern: str, *, required: bool) -> BaseCheck:
    return Pattern(pattern=pattern, matches=required)
