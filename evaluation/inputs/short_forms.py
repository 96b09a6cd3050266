"""Expands the short forms of a contract, such as ``keywords``, into checks. Nothing else reads them."""

from __future__ import annotations

from collections.abc import Iterator

from evaluation.checks.check_model import BaseCheck
from evaluation.checks.contract_checks import Requirement
from evaluation.checks.kinds.counts import CharacterCount, WordCount
from evaluation.checks.kinds.data_formats import JsonSchema
from evaluation.checks.kinds.tools import ToolCalls
from evaluation.checks.kinds.wording import Contains, Excludes, Pattern, StatesNumber
from evaluation.inputs.contract import ContentRule, EvaluationContract, LengthBounds, Threshold


def expand_contract(contract: EvaluationContract) -> list[Requirement]:
    """List every check that a contract asks for, the list ``checks`` first.

    | field | check |
    |---|---|
    | ``required_content`` | ``contains``, ``regex``, ``schema`` or ``states_number`` |
    | ``forbidden_content`` | ``excludes``, or these with the opposite sense |
    | ``output_length`` | ``character_count``, ``word_count`` |
    | ``keywords`` | ``contains``, unless a threshold on ``keyword_coverage`` stands for it |
    | ``must_call`` | ``tool_calls`` |
    """
    return [
        *_list_checks(contract),
        *(expand_rule(rule, required=True) for rule in contract.required_content),
        *(expand_rule(rule, required=False) for rule in contract.forbidden_content),
        *_expand_lengths(contract.output_length),
        *_expand_keywords(contract),
        *(
            Requirement(ToolCalls(tool=tool, min=1), "must_call", "must_call", "critical")
            for tool in contract.must_call
        ),
    ]


def expand_rule(rule: ContentRule, *, required: bool) -> Requirement:
    """Write a content rule as a check; one that forbids reads by default all that the assistant said."""
    name = "required_content" if required else "forbidden_content"
    place = rule.where if required or "where" in rule.model_fields_set else "assistant_messages"
    return Requirement(build_check(rule, required=required), name, name, rule.severity, place, not required)


def _list_checks(contract: EvaluationContract) -> Iterator[Requirement]:
    for check in contract.checks:
        name = check.get_name() if isinstance(check, BaseCheck) else check.name
        yield Requirement(check, name, f"checks.{name}", check.severity)


def read_lengths(bounds: LengthBounds | None) -> dict[str, dict[str, int]]:
    """Return the bounds of ``output_length`` by metric: ``{"words": {"max": 5}}``."""
    lengths: dict[str, dict[str, int]] = {}
    for name, limit in bounds or ():
        side, metric = name.split("_")
        if limit is not None:
            lengths.setdefault(metric, {})[side] = limit
    return lengths


def _expand_lengths(bounds: LengthBounds | None) -> Iterator[Requirement]:
    for metric, limits in read_lengths(bounds).items():
        kind = CharacterCount if metric == "characters" else WordCount
        yield Requirement(kind.model_validate(limits), "output_length", metric, "critical")


def _expand_keywords(contract: EvaluationContract) -> Iterator[Requirement]:
    keywords = [word for word in contract.keywords if word.strip()]
    if keywords and not is_demanding(contract.thresholds.get("keyword_coverage")):
        check = Contains(texts=keywords, whole_words=True)
        yield Requirement(check, "keywords", "keyword_coverage", "critical")


def is_demanding(bound: Threshold | float | None) -> bool:
    """Return whether a threshold on a share or a similarity is a minimum whose breach matters."""
    if isinstance(bound, Threshold):
        return bound.min is not None and bound.min > 0 and bound.severity != "info"
    return bound is not None and bound > 0


def build_check(rule: ContentRule, *, required: bool) -> BaseCheck:
    """Write a content rule as a check of one text."""
    if rule.text is not None:
        kind = Contains if required else Excludes
        return kind(texts=[rule.text], ignore_case=rule.ignore_case, whole_words=False)
    if rule.pattern is not None:
        return Pattern(pattern=rule.pattern, matches=required)
    if rule.number is not None:
        return StatesNumber(number=rule.number, tolerance=rule.tolerance, present=required)
    schema = rule.json_schema is not None and rule.json_schema
    return JsonSchema(json_schema=schema, alone=False, matches=required)
