"""Reads a contract: expands its short forms, such as ``keywords``, into checks, and lists its tools."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from evaluation.checks.check_model import BaseCheck
from evaluation.checks.contract_checks import Requirement
from evaluation.checks.kinds.counts import CharacterCount, WordCount
from evaluation.checks.kinds.data_formats import JsonSchema
from evaluation.checks.kinds.tools import ProbeCheck, ToolCalls
from evaluation.checks.kinds.wording import Contains, Excludes, Pattern, StatesNumber
from evaluation.contract.contract import ContentRule, EvaluationContract, LengthBounds, Threshold
from evaluation.contract.run import TrajectoryRules


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


_OPTIONAL_MODES: Final = frozenset({"subset", "precision_recall"})
"""Match modes in which a run can agree with an expected action that it lacks."""
_TRAJECTORY_LISTS: Final = (
    *("forbidden_tools", "ignored_tools", "compared_tools", "acting_tools", "reading_tools", "final_tools"),
    "tools",
)


@dataclass(frozen=True, slots=True)
class NamedTools:
    """Tools that one field of a contract names.

    Attributes:
        field: The path of the field, such as ``trajectory.forbidden_tools``.
        names: The names.
        is_required: Whether one of them has to be called.
        only_reads: Whether each of them must only read.
    """

    field: str
    names: tuple[str, ...]
    is_required: bool = False
    only_reads: bool = False


def list_named_tools(contract: EvaluationContract) -> Iterator[NamedTools]:
    """List the tools that a contract names, in the order of its fields."""
    for place, check in enumerate(contract.checks):
        if isinstance(check, ProbeCheck):
            yield NamedTools(f"checks[{place}].tool", (check.tool,), is_required=True, only_reads=True)
        if isinstance(check, ToolCalls):
            yield NamedTools(f"checks[{place}].tool", (check.tool,), bool(check.exactly or check.min))
    yield from _list_expected(contract)
    for name in contract.must_call:
        yield NamedTools("must_call", (name,), is_required=True)
    for field in _TRAJECTORY_LISTS:
        yield NamedTools(f"trajectory.{field}", tuple(getattr(contract.trajectory, field) or ()))
    for place, rule in enumerate(contract.audit.rules):
        yield NamedTools(f"audit.rules[{place}].allowed_tools", tuple(rule.allowed_tools or ()))
        yield NamedTools(f"audit.rules[{place}].forbidden_tools", tuple(rule.forbidden_tools or ()))


def _list_expected(contract: EvaluationContract) -> Iterator[NamedTools]:
    is_partial = contract.trajectory_match_mode in _OPTIONAL_MODES
    for place, action in enumerate(contract.expected_trajectory or ()):
        if action.kind in {None, "tool"}:
            names, is_optional = tuple(sorted(action.names)), is_partial or action.optional
            is_required = not is_optional and all(_is_compared(name, contract.trajectory) for name in names)
            yield NamedTools(f"expected_trajectory[{place}]", names, is_required)


def _is_compared(name: str, rules: TrajectoryRules) -> bool:
    """Return whether the rules compare calls of a tool in every case."""
    kept = [names for names in (rules.compared_tools, rules.acting_tools) if names is not None]
    return name not in rules.ignored_tools and all(name in names for names in kept)
